import { proveCaught } from './prove.ts';
import { SEGMENT_MUTATIONS } from './segment-mutations.ts';

await proveCaught(SEGMENT_MUTATIONS);
