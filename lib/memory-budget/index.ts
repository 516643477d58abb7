export { bytesOf, largestHeapBytes } from './bytes-of.ts';
export { cachedRows, cachedTable, quotaMebibytes } from './cached.ts';
export { type MemoryName, type MemoryProcess, memoryRows } from './table.ts';
