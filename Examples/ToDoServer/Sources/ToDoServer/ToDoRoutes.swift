import Foundation
import Heartwood
import Hummingbird

/// Reads and writes to-dos. Each request has a context of its own, in the background: no thread of the server waits for a disk or a database.
struct ToDoRoutes {
  let container: PersistentContainer

  private static let greatestPage = 200

  func add(to router: some RouterMethods<some RequestContext>) {
    router.get { request, context in try await list(request, context) }
    router.post { request, context in try await create(request, context) }
    router.get(":id") { request, context in
      let id = try id(context)
      return try respond(try await container.performBackgroundTask { try item(find(id, in: $0)) }, request, context)
    }
    router.patch(":id") { request, context in
      let (id, precondition) = (try id(context), try Precondition(request))
      let change = try await request.decode(as: ToDoChange.self, context: context)
      let changed = try await container.performBackgroundTask { objects in
        let toDo = try find(id, in: objects)
        try precondition.check(toDo)
        change.apply(to: toDo)
        // If another client was faster since the check, this throws `saveConflict`.
        try objects.save()
        return try item(toDo)
      }
      return try respond(changed, request, context)
    }
    router.delete(":id") { request, context in
      let (id, precondition) = (try id(context), try Precondition(request))
      try await container.performBackgroundTask { objects in
        let toDo = try find(id, in: objects)
        try precondition.check(toDo)
        objects.delete(toDo)
        try objects.save()
      }
      return Response(status: .noContent)
    }
  }

  private func list(_ request: Request, _ context: some RequestContext) async throws -> [ToDoItem] {
    let parameters = request.uri.queryParameters
    let limit = parameters.get("limit", as: Int.self) ?? 50
    let offset = parameters.get("offset", as: Int.self) ?? 0
    guard (1...Self.greatestPage).contains(limit), offset >= 0 else {
      throw HTTPError(.badRequest, message: "limit is from 1 to \(Self.greatestPage), and offset is not negative.")
    }
    let isDone = parameters.get("done", as: Bool.self)
    return try await container.performBackgroundTask { objects in
      let toDos = try objects.fetch(
        FetchRequest<ToDo>(
          where: isDone.map { ToDo.isDoneKey == $0 },
          sortedBy: [ToDo.createdKey.ascending, ToDo.uuidKey.ascending],
          offset: offset,
          limit: limit
        )
      )
      return toDos.compactMap(ToDoItem.init)
    }
  }

  private func create(_ request: Request, _ context: some RequestContext) async throws -> Response {
    let change = try await request.decode(as: ToDoChange.self, context: context)
    let created = try await container.performBackgroundTask { objects in
      let toDo = try objects.insert(ToDo.self)
      change.apply(to: toDo)
      try objects.save()
      return try item(toDo)
    }
    var response = try respond(created, request, context)
    response.status = .created
    response.headers[.location] = "/todos/\(created.id)"
    return response
  }
}

// MARK: Parts

extension ToDoRoutes {
  private func id(_ context: some RequestContext) throws -> UUID {
    guard let id = context.parameters.get("id", as: UUID.self) else { throw HTTPError(.notFound) }
    return id
  }

  private func find(_ id: UUID, in context: ManagedObjectContext) throws -> ToDo {
    guard let toDo = try context.fetch(FetchRequest<ToDo>(where: ToDo.uuidKey == id, limit: 1)).first else {
      throw HTTPError(.notFound)
    }
    return toDo
  }

  private func item(_ toDo: ToDo) throws -> ToDoItem {
    guard let item = ToDoItem(toDo) else { throw HTTPError(.notFound) }
    return item
  }

  private func respond(_ item: ToDoItem, _ request: Request, _ context: some RequestContext) throws -> Response {
    var response = try context.responseEncoder.encode(item, from: request, context: context)
    response.headers[.eTag] = "\"\(item.version)\""
    return response
  }
}

// MARK: Errors

/// Answers errors of the store with the status that they have over HTTP. All others are the server's own: they are logged, and not shown.
struct StoreErrors<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request,
    context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as PersistenceError {
      switch error.code {
      case .saveConflict:
        throw HTTPError(.preconditionFailed, message: "The to-do has been changed since. Read it again.")
      case .validationFailed: throw HTTPError(.unprocessableContent, message: error.message)
      case .constraintConflict: throw HTTPError(.conflict, message: error.message)
      case .storeBusy, .timeLimitExceeded:
        throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "1"], message: "Try again.")
      default:
        context.logger.error("A request failed.", metadata: ["error": "\(error)"])
        throw HTTPError(.internalServerError)
      }
    }
  }
}
