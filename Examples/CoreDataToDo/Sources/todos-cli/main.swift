// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import Foundation
import ToDos

// todos                    lists the to-dos of todo.csv or todo.binary in this folder
// todos add <memo>         adds one
// todos find <text>        lists the open ones that contain a text
// todos move               moves them from todo.csv to todo.binary

do {
  let stack = CoreDataStack.shared
  try stack.openStore()
  let context = stack.managedObjectContext
  let arguments = Array(CommandLine.arguments.dropFirst())
  var shown = try ToDo.all(in: context)
  switch arguments.first {
  case "add":
    _ = ToDo.insert(arguments.dropFirst().joined(separator: " "), into: context)
    try stack.save()
    shown = try ToDo.all(in: context)
  case "find":
    shown = try ToDo.open(in: context, containing: arguments.dropFirst().joined(separator: " "))
  case "move":
    try stack.moveToBinaryStore()
    shown = try ToDo.all(in: context)
  default:
    break
  }
  for toDo in shown { print(toDo.done.boolValue ? "[x]" : "[ ]", toDo.memo ?? "") }
} catch {
  print("todos: \(error)")
  exit(1)
}
