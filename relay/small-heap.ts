import { setFlagsFromString } from 'node:v8';

/** Garbage that V8 lets the old part of the heap gather before it collects it, in per cent of what is in use there. */
const garbagePercent = 20;
/** V8 decides by itself: by the speed at which the heap grows and is collected. */
const byItself = 0;

/**
 * Keeps the heap of a process small whose streams say little and stay for days, or lets it grow. By itself V8 lets a heap of 200 MiB
 * gather half as much again, which is a tenth of the memory of ten thousand streams.
 */
export const keepHeapSmall = (isSmall: boolean): void =>
  setFlagsFromString(`--heap-growing-percent=${isSmall ? garbagePercent : byItself}`);

/**
 * Called every second with whether a fleet is coming (`Waves`). The heap is small while none is: each connect leaves garbage, and more
 * collections would take the processor from the daemons that wait.
 */
export function createHeapPace(keepSmall: (isSmall: boolean) => void): (isComing: boolean) => void {
  let isSmall = false;
  return (isComing) => {
    if (isSmall !== isComing) return;
    isSmall = !isComing;
    keepSmall(isSmall);
  };
}
