import t from 'tap';
import { testRude } from '../support/rude.ts';

t.test('10,000 requests and lines that are cut or mean nothing leave nothing behind', (t) =>
  testRude(t, 10_000),
);
