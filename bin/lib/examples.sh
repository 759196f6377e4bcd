# Builds and runs the programs in examples/. Sourced after jdk.sh, in the project's folder; POSIX sh.
#
#   build_examples         builds them if something is missing or a source is newer, or returns 1
#   run_example CLASS ...  replaces this shell by the program with that main class; after use_jdk

# The build writes it last, so its age is the age of what was built.
EXAMPLES_CLASS_PATH=examples/target/class-path

examples_built() {
    [ -s "$EXAMPLES_CLASS_PATH" ] && [ -d examples/target/classes ] || return 1
    [ -z "$(find pom.xml ./*/pom.xml ./*/src/main -newer "$EXAMPLES_CLASS_PATH" 2>/dev/null | head -n 1)" ] || return 1
    # Maven's local repository may have been emptied since.
    (
        IFS=:
        for examples_jar in $(cat "$EXAMPLES_CLASS_PATH"); do
            [ -e "$examples_jar" ] || exit 1
        done
    )
}

build_examples() {
    examples_built && return 0
    require_maven || return 1
    quiet_maven
    echo "Building, as something is not built yet or has changed; the first time takes a minute or two ..." >&2
    mvn -B -ntp -q -pl examples -am package -Dmaven.test.skip=true || {
        echo "The build failed, see above; bin/test shows all of it." >&2
        return 1
    }
}

run_example() {
    # The flags are unknown to older JDKs; Kafka's compression codecs use what newer ones warn about.
    if [ "$JDK_MAJOR" -ge 23 ]; then
        set -- --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED "$@"
    fi
    CLASSPATH=$PWD/examples/target/classes:$(cat "$EXAMPLES_CLASS_PATH")
    export CLASSPATH
    exec "$JAVA_HOME/bin/java" -Xmx512m -XX:+UseSerialGC -XX:-UsePerfData "$@"
}
