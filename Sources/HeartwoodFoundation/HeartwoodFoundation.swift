// The parts of Foundation that the package uses: FoundationEssentials if it is available, so that on Linux most of
// Foundation is not linked.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
