/* libxml2's side of the comparison: Core Data's XML to C structs by SAX2, and back by xmlTextWriter. */
#ifndef CXMLPEER_H
#define CXMLPEER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint8_t identifier[16];
  double creationDate;
  int32_t sortOrder;
  uint8_t isDone;
  char *memo;
} peer_todo;

typedef struct {
  peer_todo *rows;
  size_t count;
  size_t capacity;
} peer_todos;

/* Reads the records of an XML store; 0 where that fails. */
int peer_read_xml(const char *path, peer_todos *todos);

/* Writes records as an XML store and flushes it to the disk; 0 where that fails. */
int peer_write_xml(const char *path, const peer_todos *todos);

#endif
