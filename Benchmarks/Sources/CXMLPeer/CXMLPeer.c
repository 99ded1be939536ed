#include "CXMLPeer.h"

#include <fcntl.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

typedef struct {
  peer_todos *todos;
  peer_todo row;
  char name[32];
  char text[1 << 16];
  size_t length;
  int in_attribute;
  int failed;
} reader;

static int digit(int byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

static int parse_uuid(const xmlChar *text, size_t length, uint8_t *identifier) {
  size_t written = 0;
  for (size_t index = 0; index + 1 < length && written < 16; index++) {
    if (text[index] == '-') continue;
    int high = digit(text[index]), low = digit(text[index + 1]);
    if (high < 0 || low < 0) return 0;
    identifier[written++] = (uint8_t)(high << 4 | low);
    index++;
  }
  return written == 16;
}

static void start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
                  const xmlChar **namespaces, int count, int defaulted, const xmlChar **attributes) {
  reader *self = user;
  (void)prefix, (void)uri, (void)namespace_count, (void)namespaces, (void)defaulted;
  if (xmlStrEqual(name, BAD_CAST "attribute")) {
    for (int index = 0; index < count; index++) {
      const xmlChar **attribute = attributes + index * 5;
      if (!xmlStrEqual(attribute[0], BAD_CAST "name")) continue;
      size_t length = (size_t)(attribute[4] - attribute[3]);
      if (length >= sizeof self->name) length = sizeof self->name - 1;
      memcpy(self->name, attribute[3], length);
      self->name[length] = 0;
    }
    self->length = 0;
    self->in_attribute = 1;
  } else if (xmlStrEqual(name, BAD_CAST "object")) {
    memset(&self->row, 0, sizeof self->row);
    for (int index = 0; index < count; index++) {
      const xmlChar **attribute = attributes + index * 5;
      if (!xmlStrEqual(attribute[0], BAD_CAST "id")) continue;
      if (!parse_uuid(attribute[3] + 1, (size_t)(attribute[4] - attribute[3]) - 1, self->row.identifier)) self->failed = 1;
    }
  }
}

static void take_value(reader *self) {
  self->text[self->length] = 0;
  if (strcmp(self->name, "done") == 0) {
    self->row.isDone = self->text[0] == '1';
  } else if (strcmp(self->name, "memo") == 0) {
    self->row.memo = malloc(self->length + 1);
    memcpy(self->row.memo, self->text, self->length + 1);
  } else if (strcmp(self->name, "sortorder") == 0) {
    self->row.sortOrder = (int32_t)strtol(self->text, NULL, 10);
  } else if (strcmp(self->name, "creationdate") == 0) {
    self->row.creationDate = strtod(self->text, NULL);
  }
}

static void end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  reader *self = user;
  (void)prefix, (void)uri;
  if (self->in_attribute) {
    take_value(self);
    self->in_attribute = 0;
  } else if (xmlStrEqual(name, BAD_CAST "object")) {
    peer_todos *todos = self->todos;
    if (todos->count == todos->capacity) {
      todos->capacity = todos->capacity ? todos->capacity * 2 : 1024;
      todos->rows = realloc(todos->rows, todos->capacity * sizeof *todos->rows);
    }
    todos->rows[todos->count++] = self->row;
  }
}

static void characters(void *user, const xmlChar *text, int length) {
  reader *self = user;
  if (!self->in_attribute || self->length + (size_t)length >= sizeof self->text) return;
  memcpy(self->text + self->length, text, (size_t)length);
  self->length += (size_t)length;
}

int peer_read_xml(const char *path, peer_todos *todos) {
  reader *self = calloc(1, sizeof *self);
  self->todos = todos;
  xmlSAXHandler handler;
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = start;
  handler.endElementNs = end;
  handler.characters = characters;
  int file = open(path, O_RDONLY);
  if (file < 0) return 0;
  char *buffer = malloc(CHUNK);
  xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handler, self, NULL, 0, NULL);
  xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_HUGE);
  ssize_t count;
  while ((count = read(file, buffer, CHUNK)) > 0) xmlParseChunk(context, buffer, (int)count, 0);
  xmlParseChunk(context, buffer, 0, 1);
  int is_whole = context->wellFormed && !self->failed;
  xmlFreeParserCtxt(context);
  close(file);
  free(buffer);
  free(self);
  return is_whole;
}

static void write_attribute(xmlTextWriterPtr writer, const char *name, const char *type, const char *text) {
  xmlTextWriterStartElement(writer, BAD_CAST "attribute");
  xmlTextWriterWriteAttribute(writer, BAD_CAST "name", BAD_CAST name);
  xmlTextWriterWriteAttribute(writer, BAD_CAST "type", BAD_CAST type);
  xmlTextWriterWriteString(writer, BAD_CAST text);
  xmlTextWriterFullEndElement(writer);
}

static void write_row(xmlTextWriterPtr writer, const peer_todo *row) {
  char text[400];
  char *place = text;
  *place++ = 'u';
  for (int index = 0; index < 16; index++) {
    if (index == 4 || index == 6 || index == 8 || index == 10) *place++ = '-';
    *place++ = "0123456789ABCDEF"[row->identifier[index] >> 4];
    *place++ = "0123456789ABCDEF"[row->identifier[index] & 15];
  }
  *place = 0;
  xmlTextWriterStartElement(writer, BAD_CAST "object");
  xmlTextWriterWriteAttribute(writer, BAD_CAST "type", BAD_CAST "TODO");
  xmlTextWriterWriteAttribute(writer, BAD_CAST "id", BAD_CAST text);
  write_attribute(writer, "done", "bool", row->isDone ? "1" : "0");
  write_attribute(writer, "memo", "string", row->memo);
  snprintf(text, sizeof text, "%d", row->sortOrder);
  write_attribute(writer, "sortorder", "int32", text);
  snprintf(text, sizeof text, "%.20f", row->creationDate);
  write_attribute(writer, "creationdate", "date", text);
  xmlTextWriterFullEndElement(writer);
}

int peer_write_xml(const char *path, const peer_todos *todos) {
  xmlTextWriterPtr writer = xmlNewTextWriterFilename(path, 0);
  if (!writer) return 0;
  xmlTextWriterSetIndent(writer, 1);
  xmlTextWriterSetIndentString(writer, BAD_CAST "    ");
  xmlTextWriterStartDocument(writer, NULL, NULL, NULL);
  xmlTextWriterStartElement(writer, BAD_CAST "database");
  for (size_t index = 0; index < todos->count; index++) write_row(writer, todos->rows + index);
  xmlTextWriterEndDocument(writer);
  xmlFreeTextWriter(writer);
  int file = open(path, O_RDONLY);
  if (file < 0) return 0;
  int is_flushed = fsync(file) == 0;
  close(file);
  return is_flushed;
}
