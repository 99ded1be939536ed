#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an `Info.plist` of an Apple application says of its documents.
struct InfoPropertyList: Decodable {
  let documents: [Document]
  private let declarations: [ContentType]

  private enum CodingKeys: String, CodingKey {
    case documents = "CFBundleDocumentTypes"
    case exported = "UTExportedTypeDeclarations"
    case imported = "UTImportedTypeDeclarations"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    documents = try container.decodeIfPresent([Document].self, forKey: .documents) ?? []
    declarations =
      try (container.decodeIfPresent([ContentType].self, forKey: .exported) ?? [])
      + (container.decodeIfPresent([ContentType].self, forKey: .imported) ?? [])
  }

  /// What is said of the files of a uniform type identifier; nil where that is not declared here.
  func declaration(of contentType: String) -> ContentType? {
    declarations.first { $0.identifier.lowercased() == contentType.lowercased() }
  }
}

extension InfoPropertyList {
  /// An entry of `CFBundleDocumentTypes`.
  struct Document: Decodable {
    let name: String?
    let storeType: String?
    let fileExtensions: [String]?
    let mimeTypes: [String]?
    let contentTypes: [String]?
    let role: String?

    private enum CodingKeys: String, CodingKey {
      case name = "CFBundleTypeName"
      case storeType = "NSPersistentStoreTypeKey"
      case fileExtensions = "CFBundleTypeExtensions"
      case mimeTypes = "CFBundleTypeMIMETypes"
      case contentTypes = "LSItemContentTypes"
      case role = "CFBundleTypeRole"
    }
  }

  /// An entry of `UTExportedTypeDeclarations` or `UTImportedTypeDeclarations`.
  struct ContentType: Decodable {
    let identifier: String
    let tags: Tags?

    private enum CodingKeys: String, CodingKey {
      case identifier = "UTTypeIdentifier"
      case tags = "UTTypeTagSpecification"
    }
  }

  /// How files of a type are called.
  struct Tags: Decodable {
    let fileExtensions: Names?
    let mimeTypes: Names?

    private enum CodingKeys: String, CodingKey {
      case fileExtensions = "public.filename-extension"
      case mimeTypes = "public.mime-type"
    }
  }

  /// One name or several.
  struct Names: Decodable {
    let all: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // try?: a list or else one string, and what is neither is thrown.
      all = try (try? container.decode([String].self)) ?? [container.decode(String.self)]
    }
  }
}
