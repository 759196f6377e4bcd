# Builds and runs the simulation in conformance/. Sourced after jdk.sh, in the project's folder; POSIX sh.
#
#   build_simulation    builds it if something is missing or a source is newer, or returns 1
#   run_simulation ...  replaces this shell by it; after use_jdk

# The build writes it last, so its age is the age of what was built.
SIMULATION_CLASS_PATH=conformance/target/class-path

simulation_built() {
    [ -s "$SIMULATION_CLASS_PATH" ] && [ -d conformance/target/test-classes ] || return 1
    [ -z "$(find pom.xml ./*/pom.xml ./*/src/main conformance/src -newer "$SIMULATION_CLASS_PATH" 2>/dev/null | head -n 1)" ] ||
        return 1
    # Maven's local repository may have been emptied since.
    (
        IFS=:
        for simulation_jar in $(cat "$SIMULATION_CLASS_PATH"); do
            [ -e "$simulation_jar" ] || exit 1
        done
    )
}

build_simulation() {
    simulation_built && return 0
    require_maven || return 1
    quiet_maven
    echo "Building, as something is not built yet or has changed; the first time takes a minute or two ..." >&2
    mvn -B -ntp -q -pl conformance -am package -DskipTests || {
        echo "The build failed, see above; bin/test shows all of it." >&2
        return 1
    }
}

run_simulation() {
    CLASSPATH=$PWD/conformance/target/test-classes:$(cat "$SIMULATION_CLASS_PATH")
    export CLASSPATH
    # One carrier thread: only one thread of a simulation runs at a time, so more would only wake each other.
    # And no optimizing compiler: much code runs, and none of it is hot.
    exec "$JAVA_HOME/bin/java" -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
        -Djdk.virtualThreadScheduler.parallelism=1 -Dtest.log=off \
        io.settlestream.conformance.simulation.SimulateMain "$@"
}
