#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The parts of the URI of an object: `x-coredata://<store UUID>/<Entity>/<reference>`.
public struct ObjectURI: Sendable, Hashable {
  /// The scheme of every object URI.
  public static let scheme = "x-coredata"

  /// The store that keeps the object, or nil where the object has not been saved.
  public var storeIdentifier: UUID?
  /// The name of the object's entity.
  public var entityName: String
  /// What the store calls the record.
  public var reference: ReferenceID

  /// The URI of the record that `reference` names.
  public init(storeIdentifier: UUID?, entityName: String, reference: ReferenceID) {
    self.storeIdentifier = storeIdentifier
    self.entityName = entityName
    self.reference = reference
  }
}

extension ObjectURI {
  /// The parts of `url`, or nil where it is not the URI of a saved object.
  public init?(_ url: URL) {
    self.init(text: url.absoluteString)
  }

  /// The parts of the URI `text`, or nil where it is not the URI of a saved object.
  public init?(text: String) {
    guard text.hasPrefix(Self.scheme + "://") else { return nil }
    let parts = text.dropFirst(Self.scheme.count + 3).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UUID(uuidString: String(parts[0])),
      let entity = Self.decoded(parts[1]), !entity.isEmpty, let reference = Self.decoded(parts[2])
    else { return nil }
    self.init(storeIdentifier: store, entityName: entity, reference: ReferenceID(text: reference))
  }

  /// The URI as text.
  public var text: String {
    let store = storeIdentifier?.uuidString ?? ""
    let prefix = storeIdentifier == nil ? "t" : ""
    return "\(Self.scheme)://\(store)/\(Self.encoded(entityName))/\(prefix)\(Self.encoded(reference.text))"
  }

  /// The URI.
  public var url: URL {
    guard let url = URL(string: text) else {
      preconditionFailure("The URI of an object holds nothing but characters that a URI may hold.")
    }
    return url
  }

  /// `text` with every byte that RFC 3986 does not call unreserved percent-encoded.
  private static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), HexadecimalDigit.capital(byte >> 4), HexadecimalDigit.capital(byte & 15)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that the percent-encoded `text` stands for, or nil where it is not well formed UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    HexadecimalDigit.unescaped(text.utf8, behind: UInt8(ascii: "%")).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
