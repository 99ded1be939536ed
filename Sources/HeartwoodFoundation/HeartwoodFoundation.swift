// What the package uses of Foundation: the essentials if they are a module of their own, which spares Linux the greater part of Foundation.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
