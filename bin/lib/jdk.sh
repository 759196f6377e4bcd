# Finds a JDK 21 or newer. Sourced by the scripts in bin/; POSIX sh, defines functions and changes nothing on its own.
#
#   use_jdk        sets and exports JAVA_HOME (and JDK_MAJOR), or says what to install and returns 1
#   require_maven  returns 0 when mvn is on the PATH, or says what to install and returns 1
#   quiet_maven    adds to MAVEN_OPTS what keeps newer JDKs from warning about Maven's own libraries; after use_jdk

JDK_MINIMUM=21

# Major version of the JDK in folder $1; prints nothing when there is none.
jdk_major() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 0
    jdk_version=
    if [ -r "$1/release" ]; then
        jdk_version=$(sed -n 's/^JAVA_VERSION="\{0,1\}\([0-9][0-9.]*\).*/\1/p' "$1/release" | head -n 1)
    fi
    if [ -z "$jdk_version" ]; then
        # The quoted word of the first line is the version; JDKs before 9 call themselves 1.x.
        jdk_version=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9][0-9.]*\).*/\1/p' | head -n 1)
    fi
    case $jdk_version in
        1.*) jdk_version=${jdk_version#1.} ;;
    esac
    printf '%s\n' "${jdk_version%%.*}"
}

# Whether folder $1 holds a JDK that is new enough.
jdk_fits() {
    jdk_found=$(jdk_major "$1")
    [ -n "$jdk_found" ] && [ "$jdk_found" -ge "$JDK_MINIMUM" ]
}

# Home of the java on the PATH, as it says itself: a link or a shim on the PATH does not tell.
jdk_home_on_path() {
    command -v java >/dev/null 2>&1 || return 0
    java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p' | head -n 1
}

# Newest fitting JDK among the places where installers put them.
jdk_newest_installed() {
    jdk_best=
    jdk_best_major=0
    for jdk_dir in /usr/lib/jvm/* /opt/* /opt/java/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        jdk_fits "$jdk_dir" || continue
        if [ "$jdk_found" -gt "$jdk_best_major" ]; then
            jdk_best=$jdk_dir
            jdk_best_major=$jdk_found
        fi
    done
    printf '%s\n' "$jdk_best"
}

use_jdk() {
    if [ -n "${JAVA_HOME:-}" ] && jdk_fits "$JAVA_HOME"; then
        jdk_home=$JAVA_HOME
    else
        jdk_home=$(jdk_home_on_path)
        if [ -z "$jdk_home" ] || ! jdk_fits "$jdk_home"; then
            jdk_home=$(jdk_newest_installed)
        fi
    fi
    if [ -z "$jdk_home" ]; then
        {
            echo "No JDK $JDK_MINIMUM or newer was found: not in JAVA_HOME (${JAVA_HOME:-unset}), not on the PATH, and not in the usual folders."
            echo "Install one (for example Eclipse Temurin 25, or the openjdk-$JDK_MINIMUM-jdk package of Debian and Ubuntu)"
            echo "and set JAVA_HOME to its folder if it is in an unusual place."
        } >&2
        return 1
    fi
    JAVA_HOME=$jdk_home
    JDK_MAJOR=$(jdk_major "$JAVA_HOME")
    export JAVA_HOME JDK_MAJOR
}

require_maven() {
    command -v mvn >/dev/null 2>&1 && return 0
    {
        echo "Maven was not found: there is no mvn on the PATH."
        echo "Install Maven 3.8.6 or newer (for example the maven package of Debian, Ubuntu or Homebrew)."
    } >&2
    return 1
}

# The flags are unknown to older JDKs, so they cannot be in .mvn/jvm.config.
quiet_maven() {
    if [ "$JDK_MAJOR" -ge 23 ]; then
        MAVEN_OPTS="${MAVEN_OPTS:+$MAVEN_OPTS }--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED"
        export MAVEN_OPTS
    fi
}
