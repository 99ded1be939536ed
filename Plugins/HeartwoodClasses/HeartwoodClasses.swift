import Foundation
import PackagePlugin

/// Generates the classes of the models in a target before the target is built, whenever a model has changed.
///
/// Each `.xcdatamodeld` and `.xcdatamodel` in the target's folder gets one file of classes. To add code of your own to
/// the classes, write extensions in the target's own files.
@main struct HeartwoodClasses: BuildToolPlugin {
  private static let bundleExtensions: Set<String> = ["xcdatamodeld", "xcdatamodel"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    guard let tool = try? context.tool(named: "HeartwoodGenerate") else {
      throw MissingTrait()
    }
    return try Self.models(in: target.directoryURL).map { model in
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)Classes.swift")
      return .buildCommand(
        displayName: "Generating classes of \(model.lastPathComponent)",
        executable: tool.url,
        arguments: [model.path, output.path],
        inputFiles: try Self.files(in: model),
        outputFiles: [output]
      )
    }
  }

  /// Returns the models in a folder and its subfolders. Models within a bundle belong to the bundle.
  private static func models(in folder: URL) throws -> [URL] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try names.flatMap { name in
      let url = folder.appending(path: name)
      if bundleExtensions.contains(url.pathExtension) { return [url] }
      return isFolder(url) ? try models(in: url) : []
    }
  }

  private static func files(in folder: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().map { folder.appending(path: $0) }
      .filter { !isFolder($0) }
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
  }
}

/// The error if the plugin's tool is not available.
private struct MissingTrait: Error, CustomStringConvertible {
  let description =
    "HeartwoodClasses needs a trait of the package. Write .package(url: …, from: …, traits: [.defaults, \"GeneratedClasses\"])."
}
