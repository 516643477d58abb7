import { bytesOf } from '../../memory-budget/index.ts';
import { wholeBytes } from './answer-room.ts';

/** None of the large answers counts as more than this, so that another tenant has room for one beside it. */
export const countedBytes = (): number => Math.floor(wholeBytes(bytesOf('large answers')) / 2);
