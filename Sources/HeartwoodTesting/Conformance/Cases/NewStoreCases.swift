import Heartwood
import HeartwoodFoundation

extension StoreConformance {
  /// If there is no file, or an empty one, a new store is created.
  var newStoreCases: [ConformanceCase] {
    [
      makeCase("begins without records") { try $0.beginsEmpty() },
      makeCase("makes its file \(reachesFilesItself ? "when it is opened" : "with the first save")", needs: .place) {
        try $0.makesItsFile()
      },
      makeCase("takes a file without a byte for a new store", needs: .file) { try $0.takesEmptyFile() },
      makeCase("keeps a store without records", needs: .place) { try $0.keepsNothing() },
      makeCase("is destroyed, and nothing else is", needs: .place) { conformance in
        try conformance.withEachDisk { try conformance.isDestroyed($0) }
      },
    ]
  }

  private func beginsEmpty() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try expect("the number of records", is: 0, found: try open.contents().count)
    _ = try open.store.engine.save(ChangeSet())
    try expect("the number of records after a save", is: 0, found: try bench.expectReopensSame(open).contents().count)
  }

  private func makesItsFile() throws {
    let bench = try smallBench()
    let open = try bench.open()
    if reachesFilesItself {
      try bench.expectFiles("of a new store")
      try expect("who it is", is: open.store.metadata, found: try metadata(bench))
    } else {
      try expect("the files before the first save", is: [], found: try bench.disk.fileNames())
    }
    try open.insertRandom(3, seed: 1)
    try bench.expectFiles("after a save")
    try bench.expectReopensSame(open)
  }

  private func takesEmptyFile() throws {
    let bench = try smallBench()
    try bench.disk.write([], to: bench.fileName())
    try expectError(.fileMalformed, when: "the metadata of a file without a byte are read") { _ = try metadata(bench) }
    let open = try bench.open()
    try expect("the number of records", is: 0, found: try open.contents().count)
    try open.insertRandom(3, seed: 1)
    try bench.expectReopensSame(open)
  }

  private func keepsNothing() throws {
    let bench = try smallBench()
    let open = try bench.convert(try bench.openInMemory())
    let reopened = try bench.expectReopensSame(open)
    try reopened.insertRandom(2, seed: 1)
    let context = reopened.makeContext()
    for object in try context.fetch(entityName: ModelMaker.entity) { context.delete(object) }
    try context.save()
    try expect("the number of records", is: 0, found: try bench.expectReopensSame(reopened).contents().count)
  }

  private func isDestroyed(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(2, seed: 1)
    let other = try bench.open("second")
    try other.insertRandom(2, seed: 2)
    let expected = try other.contents()
    try bench.disk.write(Array("of another program".utf8), to: "other")
    try bench.makeCoordinator().destroyPersistentStore(
      at: try unwrap(bench.url(), "a place"),
      type: type,
      options: bench.options
    )
    if isFile {
      let names = try bench.disk.fileNames().filter { !$0.hasPrefix(bench.fileName("second")) && !$0.hasPrefix(".") }
      try expect("the files beside another store", is: ["other"], found: names)
    } else {
      try expectError(.fileNotFound, when: "the metadata of a store that was destroyed are read") {
        _ = try metadata(bench)
      }
    }
    try expectSame(try bench.reopened(other, "second").contents(), as: expected, "another store")
  }
}

// MARK: RegistrationCases

extension StoreConformance {
  /// A store is identified by its type, and its files by their names.
  var registrationCases: [ConformanceCase] {
    [
      makeCase("is registered once by its type") { try $0.registersOnce() },
      makeCase("says how its files and records are called") { try $0.describesItself() },
      makeCase("its type is told from its place", needs: .place) { try $0.isToldByPlace() },
      makeCase("recognizes no file of something else", needs: .file) { try $0.recognizesNothingElse() },
    ]
  }

  private func registersOnce() throws {
    let registry = StoreRegistry()
    try registry.register(format)
    try expect(
      "the description that the registry gives",
      is: typeDescription,
      found: try registry.format(for: type).typeDescription
    )
    try expectError(.storeTypeAlreadyRegistered, when: "it is registered again") { try registry.register(format) }
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
      capabilities.supports(.persistence)
        != (typeDescription.fileExtensions.isEmpty && typeDescription.urlSchemes.isEmpty),
      "expected file extensions or schemes of URLs if there is a place, found \(typeDescription.fileExtensions)"
    )
    for name in typeDescription.fileExtensions + typeDescription.mimeTypes + typeDescription.urlSchemes {
      try expect("a name of files", is: name.lowercased(), found: name)
    }
  }

  private func recognizesNothingElse() throws {
    let others: [(what: String, prefix: [UInt8])] = [
      ("nothing", []), ("a text", Array("of another program\n".utf8)), ("zeros", Array(repeating: 0, count: 512)),
    ]
    for (what, prefix) in others {
      try expect(
        fileFormat?.recognizes(prefix: prefix) != true,
        "expected a file that begins with \(what) to be nobody's, found that it is taken for one of these"
      )
    }
  }

  private func isToldByPlace() throws {
    let registry = StoreRegistry()
    try registry.register(format)
    for scheme in typeDescription.urlSchemes {
      try expect("the types of URLs with the scheme \(scheme)", is: [type], found: registry.types(forURLScheme: scheme))
    }
    for name in typeDescription.fileExtensions {
      try expect(
        "the type of a file called store.\(name)",
        is: [type],
        found: registry.types(forFileName: "/a.b/store.\(name)")
      )
    }
  }
}
