# Lets what is built stay built: sourced by the scripts that build. SwiftPM hands the traits of a package to the compiler in the order of a
# set, which is random in each process, and everything is compiled anew when the order is another one than the last time.
SWIFT_DETERMINISTIC_HASHING=1
export SWIFT_DETERMINISTIC_HASHING
