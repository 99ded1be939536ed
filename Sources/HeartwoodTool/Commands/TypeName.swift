import ArgumentParser
import HeartwoodFormats
import HeartwoodStore

/// The names of types of stores in arguments.
enum TypeName {
  /// Refuses a name that no type has; nil is none.
  static func check(_ name: String?, _ option: String) throws {
    guard let name else { return }
    do {
      _ = try StoreRegistry.tool.storeClass(for: StoreType(name))
    } catch {
      throw ValidationError("\(option): \(DisplayText.safe(error.message))")
    }
  }
}
