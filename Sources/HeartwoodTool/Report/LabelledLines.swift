import HeartwoodFormats
import HeartwoodStore

/// Lines of a label and a text, the texts below each other.
enum LabelledLines {
  static func text(_ lines: [(label: String, text: String)]) -> String {
    var columns = TextColumns([.init(title: ""), .init(title: "")])
    columns.widen(to: lines.map { [$0.label, $0.text] })
    let output = GrowableBytes()
    for line in lines { columns.append([line.label, line.text], to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }
}
