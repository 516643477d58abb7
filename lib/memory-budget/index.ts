export { bytesOf, largestHeapBytes } from './bytes-of.ts';
export { type MemoryName, type MemoryProcess, memoryRows, memoryTable } from './table.ts';
