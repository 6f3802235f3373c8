/** The statuses of answers as the first line of HTTP/1.1 has them. */
export const STATUS_TEXTS: ReadonlyMap<number, string> = new Map([
  [200, '200 OK'],
  [201, '201 Created'],
  [204, '204 No Content'],
  [400, '400 Bad Request'],
  [401, '401 Unauthorized'],
  [403, '403 Forbidden'],
  [404, '404 Not Found'],
  [405, '405 Method Not Allowed'],
  [409, '409 Conflict'],
  [411, '411 Length Required'],
  [413, '413 Payload Too Large'],
  [415, '415 Unsupported Media Type'],
  [429, '429 Too Many Requests'],
  [500, '500 Internal Server Error'],
  [503, '503 Service Unavailable'],
  [507, '507 Insufficient Storage'],
]);
