import HeartwoodGraph

func viewContextIsTouched(_ view: ViewContext) throws {
  try view.context.save()  // error: can not be referenced from a nonisolated context
}

func viewContextIsTouchedInTheBackground(_ view: ViewContext, _ background: BackgroundContext) async {
  await background.perform { _ in
    print(view.context.hasChanges)  // error: can not be referenced from a nonisolated context
  }
}
