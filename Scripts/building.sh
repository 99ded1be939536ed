# Avoids unnecessary compilation; sourced by scripts that build. SwiftPM passes the traits of a package to the compiler
# in the order of a set, which is random in each process. If the order differs from that of the last build, everything
# is compiled again.
SWIFT_DETERMINISTIC_HASHING=1
export SWIFT_DETERMINISTIC_HASHING

# An index of the sources is for editors, and making it takes part of each build. A folder that is built without one is
# built anew with it, so only CI does without.
if [ -n "${HEARTWOOD_WITHOUT_INDEX:-}" ]; then
  swift() {
    case $1 in
    build | test)
      swift_command=$1
      shift
      command swift "$swift_command" --disable-index-store "$@"
      ;;
    *) command swift "$@" ;;
    esac
  }
fi
