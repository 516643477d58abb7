import { approval, rejection } from '../lib/decision/answers.ts';

/** Commands that a hint shows at most. */
const commandsShown = 4;

/** A word that a shell takes as it is. */
const plainWord = /^[A-Za-z0-9_./:@%+=,-]+$/;
const quoted = (text: string): string => (plainWord.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/**
 * Commands that answer a waiting Human state so that one of its rules matches. `target` is the name of the execution with
 * the flags that lead to it. Without answers the rules name none, and what matches only their author can say.
 */
export function answerCommands(target: string, answers: readonly string[]): string[] {
  if (answers.length === 0) return [`windlass signal ${target} --response …`];
  const known = answers.slice(0, commandsShown);
  return known.map((answer) => {
    if (answer === approval) return `windlass approve ${target}`;
    if (answer === rejection) return `windlass reject ${target} --reason …`;
    return `windlass signal ${target} --response ${quoted(answer)}`;
  });
}
