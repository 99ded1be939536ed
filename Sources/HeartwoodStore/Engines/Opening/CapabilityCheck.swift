import HeartwoodModel

/// Refuses what a type of store declares that it cannot do, before anything is written.
struct CapabilityCheck {
  private let description: StoreTypeDescription
  private var capabilities: StoreCapabilities { description.capabilities }

  init(_ description: StoreTypeDescription) {
    self.description = description
  }

  /// Checks that the store can keep the entities of `setup`.
  func check(_ setup: StoreSetup) throws(PersistenceError) {
    try check(setup.place)
    let concrete = setup.entities.filter { !$0.isAbstract }
    if let maximum = capabilities.maximumEntityCount, concrete.count > maximum {
      throw lacks(
        "keeps \(maximum == 1 ? "one entity" : "\(maximum) entities") at most, and there are \(concrete.count) "
          + "(\(concrete.map(\.name).joined(separator: ", ")))",
        recovery: .chooseAnotherTypeOrFewerEntities,
        path: setup.placeName
      )
    }
    for entity in concrete { try check(entity, path: setup.placeName) }
    if setup.options[.tracksPersistentHistory] {
      try checkHistory(path: setup.placeName, recovery: "Open it without the option tracksPersistentHistory.")
    }
  }

  /// Checks that a store can be at a place.
  func check(_ place: StorePlace?) throws(PersistenceError) {
    if !capabilities.supports(.persistence), place != nil {
      throw lacks("has no file", recovery: .chooseAnotherTypeOrNoFile, path: place?.description)
    }
    switch place {
    case nil: return
    case .file: if description.fileExtensions.isEmpty, !description.urlSchemes.isEmpty { throw isNoFile(place) }
    case .url: if !description.urlSchemes.contains(place?.scheme ?? "") { throw isAtNoURL(place) }
    }
  }

  /// Returns the error for a store that cannot be at a URL.
  func isAtNoURL(_ place: StorePlace?) -> PersistenceError {
    let own = description.urlSchemes.map { "\($0)://" }.joined(separator: ", ")
    return lacks(
      own.isEmpty ? "is a file, and the URL is not that of a file" : "is at URLs that begin with \(own)",
      recovery: own.isEmpty ? "Give a file URL." : "Give such a URL, or another type.",
      path: place?.description
    )
  }

  /// Returns the error for a store that cannot be a file.
  func isNoFile(_ place: StorePlace?) -> PersistenceError {
    let own = description.urlSchemes.map { "\($0)://" }.joined(separator: ", ")
    return lacks(
      "is not a file",
      recovery: own.isEmpty ? .chooseAnotherTypeOrNoFile : "Give a URL that begins with \(own).",
      path: place?.description
    )
  }

  /// Checks that the store can keep its history.
  func checkHistory(path: String?, recovery: PersistenceError.Recovery) throws(PersistenceError) {
    guard !capabilities.supports(.history) else { return }
    throw lacks("keeps no history", recovery: recovery, path: path)
  }

  private func check(_ entity: EntityDescription, path: String?) throws(PersistenceError) {
    for property in entity.properties where !property.isTransient {
      switch property {
      case .attribute(let attribute) where !capabilities.attributeTypes.contains(attribute.type):
        throw lacks(
          "cannot keep attributes of type \(attribute.type.rawValue)",
          path: path,
          entity: entity.name,
          property: attribute.name
        )
      case .relationship(let relationship) where !capabilities.supports(.relationships):
        throw lacks("cannot keep relationships", path: path, entity: entity.name, property: relationship.name)
      default: break
      }
    }
  }

  /// Checks that the store can keep the metadata and the references of `contents`.
  func check(_ contents: StoreContents, path: String?) throws(PersistenceError) {
    try check(contents.metadata.userInfo, path: path)
    for table in contents.tables {
      for group in table.groups {
        guard let kind = group.references.kindOutside(capabilities.referenceKinds) else { continue }
        throw lacks("cannot keep references of the kind \(kind)", path: path, entity: table.entity.name)
      }
    }
  }

  /// Checks that the store supports metadata of the user, if there are any.
  func check(_ userInfo: [String: MetadataValue], path: String?) throws(PersistenceError) {
    guard !userInfo.isEmpty, !capabilities.supports(.userMetadata) else { return }
    throw lacks("keeps no metadata but its identifier", recovery: .removeUserMetadata, path: path)
  }

  private func lacks(
    _ what: String,
    recovery: PersistenceError.Recovery = .chooseAnotherType,
    path: String?,
    entity: String? = nil,
    property: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "A store of type \(description.type) \(what).",
      recovery: recovery,
      context: .init(path: path, storeType: description.type, entity: entity, property: property)
    )
  }
}

// MARK: StoreSetup: checks

extension StoreSetup {
  /// Whether the store is opened for reading only.
  var isReadOnly: Bool { options[.isReadOnly] }

  /// Returns the error for a store that is opened for reading only and does not exist.
  func absent() -> PersistenceError {
    PersistenceError(
      .fileNotFound,
      "There is no store, and opening for reading only does not make one.",
      context: .init(path: placeName)
    )
  }

  /// Checks that a store with this setup leaves out none of the records of `contents`.
  func checkKeeps(_ contents: StoreContents) throws(PersistenceError) {
    let kept = Set(entities.map(\.ordinal))
    for table in contents.tables where table.count > 0 && !kept.contains(table.entity.ordinal) {
      throw PersistenceError(
        .entityUnknown,
        "There are \(table.count) records of an entity that the new store does not keep.",
        recovery: "Give it a configuration that has the entity.",
        context: .init(path: placeName, entity: table.entity.name)
      )
    }
  }
}

extension StoreEngine {
  /// Checks that the store may be changed.
  func checkWritable(_ setup: StoreSetup, _ type: StoreType) throws(PersistenceError) {
    guard setup.isReadOnly else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The store was opened for reading only.",
      recovery: .openForWriting,
      context: .init(path: placeName, storeType: type)
    )
  }

  /// Checks that the store still belongs to a coordinator.
  func checkNotClosed(_ isClosed: Bool, _ type: StoreType) throws(PersistenceError) {
    guard isClosed else { return }
    throw PersistenceError(
      .storeNotOpen,
      "The store was removed from its coordinator.",
      recovery: "Add it again, fetch the objects, and make the changes again.",
      context: .init(path: placeName, storeType: type)
    )
  }
}
