/** Words of paths, names and messages. */
export const WORDS =
  'api cart user item order search static image login report help price stock'.split(' ');
