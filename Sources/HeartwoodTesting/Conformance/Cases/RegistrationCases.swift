import Heartwood

extension StoreConformance {
  /// A store is known by its type string and its files by their names.
  var registrationCases: [ConformanceCase] {
    [
      makeCase("is registered once by its type") { try $0.registersOnce() },
      makeCase("says how its files and records are called") { try $0.describesItself() },
      makeCase("its type is told from a file's name", needs: .file) { try $0.isToldByExtension() },
      makeCase("recognizes no file of something else", needs: .file) { try $0.recognizesNothingElse() },
    ]
  }

  private func registersOnce() throws {
    let registry = StoreRegistry()
    try registry.register(storeClass)
    try expect(
      try registry.storeClass(for: type) == storeClass,
      "expected the registry to give the class that was registered"
    )
    try expectError(.storeTypeAlreadyRegistered, when: "it is registered again") { try registry.register(storeClass) }
  }

  private func describesItself() throws {
    try expect(!type.rawValue.isEmpty, "expected a type string, found an empty one")
    try expect(!typeDescription.displayName.isEmpty, "expected a name for people, found an empty one")
    try expect(!capabilities.referenceKinds.isEmpty, "expected a kind of reference, found none")
    try expect(
      Set(capabilities.referenceKinds).count == capabilities.referenceKinds.count,
      "expected each kind of reference once, found \(capabilities.referenceKinds)"
    )
    try expect(!capabilities.attributeTypes.isEmpty, "expected types of attributes, found none")
    try expect(
      capabilities.isPersistent != typeDescription.fileExtensions.isEmpty,
      "expected file extensions where there are files, found \(typeDescription.fileExtensions)"
    )
    for name in typeDescription.fileExtensions + typeDescription.mimeTypes {
      try expect("a name of files", is: name.lowercased(), found: name)
    }
  }

  private func recognizesNothingElse() throws {
    let others: [(what: String, prefix: [UInt8])] = [
      ("nothing", []), ("a text", Array("of another program\n".utf8)), ("zeros", Array(repeating: 0, count: 512)),
    ]
    for (what, prefix) in others {
      try expect(
        !storeClass.recognizes(prefix: prefix),
        "expected a file that begins with \(what) to be nobody's, found that it is taken for one of these"
      )
    }
  }

  private func isToldByExtension() throws {
    let registry = StoreRegistry()
    try registry.register(storeClass)
    for name in typeDescription.fileExtensions {
      try expect(
        "the type of a file called store.\(name)",
        is: [type],
        found: registry.types(forFileName: "/a.b/store.\(name)")
      )
    }
  }
}
