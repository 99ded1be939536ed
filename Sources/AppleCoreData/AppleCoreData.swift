// On Apple's systems, the product CoreData is Apple's framework.
#if canImport(CoreData)
  @_exported public import CoreData
#endif
