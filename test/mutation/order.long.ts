import { ORDER_MUTATIONS } from './order-mutations.ts';
import { proveCaught } from './prove.ts';

await proveCaught(ORDER_MUTATIONS);
