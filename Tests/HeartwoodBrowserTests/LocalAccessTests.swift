import Foundation
import Testing

@testable import HeartwoodBrowser

/// Who gets an answer from a server on the loopback interface.
struct LocalAccessTests {
  private let access = LocalAccess(port: 4711)

  private func status(_ path: String, _ headers: (String, String)...) -> Int? {
    access.refusal(of: BrowserRequest(method: "GET", path: path, headers: headers.map { .init($0.0, $0.1) }))?.status
  }

  private var right: (String, String) { ("Authorization", "Bearer \(access.token)") }
  private let host = ("Host", "127.0.0.1:4711")

  @Test func whoeverHasTheTokenIsServed() {
    #expect(status("/api/stores", host, right) == nil)
    #expect(status("api/stores", ("host", "localhost:4711"), right) == nil)
    #expect(
      status("/api/stores", host, right, ("Origin", "http://127.0.0.1:4711"), ("Sec-Fetch-Site", "same-origin")) == nil
    )
  }

  @Test func thePageItselfNeedsNoToken() {
    #expect(status("/", host) == nil)
    #expect(status("/browse.js", host) == nil)
    #expect(status("/", host, ("Sec-Fetch-Site", "none")) == nil)
  }

  @Test func withoutTheTokenThereIsNothing() {
    #expect(status("/api/stores", host) == 401)
    #expect(status("//api/stores", host) == 401)
    #expect(status("/api/stores", host, ("Authorization", "Bearer ")) == 401)
    #expect(status("/api/stores", host, ("Authorization", access.token)) == 401)
    #expect(status("/api/stores", host, ("Authorization", "Bearer \(access.token)x")) == 401)
    #expect(status("/api/stores", host, right, right) == 401)
  }

  /// A page of another server can have a name lead here, and its requests name that.
  @Test(arguments: ["evil.example:4711", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:47110", "[::1]:4711", ""])
  func anotherHostIsRefused(_ host: String) {
    #expect(status("/", ("Host", host)) == 421)
    #expect(status("/api/stores", ("Host", host), right) == 421)
  }

  @Test func aHostThatComesTwiceOrNotAtAllIsRefused() {
    #expect(status("/") == 421)
    #expect(status("/", host, ("Host", "127.0.0.1:4711")) == 421)
  }

  @Test func pagesOfOthersAreRefused() {
    #expect(status("/api/stores", host, right, ("Sec-Fetch-Site", "cross-site")) == 403)
    #expect(status("/browse.js", host, ("Sec-Fetch-Site", "same-site")) == 403)
    #expect(status("/api/stores", host, right, ("Origin", "http://127.0.0.1:4712")) == 403)
    #expect(status("/api/stores", host, right, ("Origin", "null")) == 403)
  }

  @Test func tokensAreLongAndDiffer() {
    let tokens = Set((0..<100).map { _ in LocalAccess(port: 1).token })
    #expect(tokens.count == 100)
    #expect(
      tokens.allSatisfy { $0.count == 22 && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" } }
    )
    #expect(access.address == "http://127.0.0.1:4711/#t=\(access.token)")
  }
}

// MARK: Assets

struct BrowserAssetTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/HeartwoodBrowser/Assets")

  @Test func theToolHasThePageAsItIs() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(names) == Set(BrowserAsset.all.keys))
    for (name, asset) in BrowserAsset.all {
      let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
      #expect(asset.text == text, "Scripts/embed-assets puts \(name) into the tool.")
    }
  }

  /// What a value says is never taken for markup, and nothing comes from elsewhere.
  @Test func nothingMakesMarkupOfText() {
    for (name, asset) in BrowserAsset.all {
      for word in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "style=",
        "onclick=\"", "https://",
      ] {
        #expect(!asset.text.contains(word), "\(name) has \(word)")
      }
    }
    #expect(BrowserAsset.all.values.reduce(0) { $0 + $1.text.utf8.count } < 150_000)
  }
}
