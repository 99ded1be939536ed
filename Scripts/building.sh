# Avoids unnecessary compilation; sourced by scripts that build. SwiftPM passes the traits of a package to the compiler
# in the order of a set, which is random in each process. If the order differs from that of the last build, everything
# is compiled again.
SWIFT_DETERMINISTIC_HASHING=1
export SWIFT_DETERMINISTIC_HASHING
