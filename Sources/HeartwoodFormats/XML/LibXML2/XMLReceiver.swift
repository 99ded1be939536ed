import CLibXML2

/// What libxml2 tells of a document. A subclass adds the calls that it reads by; no document may have what is refused here.
///
/// An unsafe place: the first argument of each call is the receiver, which outlives the parser.
class XMLReceiver {
  private static let declarations =
    "The document type declares entities or attributes. Take the declarations out: such files are not read."

  /// Leaves the rest of the document unread, for the reason given.
  func refuse(_ message: String) {}

  /// The calls for what declares or uses entities, or declares attributes.
  static var refusals: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.reference = { receiver, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) {
        $0.refuse("The file refers to an entity. Entities are not expanded: take it out.")
      }
    }
    handler.entityDecl = { receiver, _, _, _, _, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    handler.unparsedEntityDecl = { receiver, _, _, _, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    handler.attributeDecl = { receiver, _, _, _, _, _, enumeration in
      xmlFreeEnumeration(enumeration)
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    return handler
  }

  /// Calls without counting references: the parser's caller holds the receiver.
  @inline(__always)
  static func with<Receiver: XMLReceiver>(
    _ pointer: UnsafeMutableRawPointer?,
    as type: Receiver.Type,
    _ body: (Receiver) -> Void
  ) {
    guard let pointer else { return }
    Unmanaged<Receiver>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
  }
}
