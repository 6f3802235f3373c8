import { proveCaught } from './prove.ts';
import { STORE_MUTATIONS } from './store-mutations.ts';

await proveCaught(STORE_MUTATIONS);
