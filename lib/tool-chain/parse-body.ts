import { memoize } from '../memo.ts';
import { offsetOf, parseHandlebars } from '../template/handlebars-syntax.ts';
import { templateLimits } from '../template/limits.ts';
import { type Scanned, scan } from '../template/scan.ts';
import { placeOf, TemplateError } from '../template/template-error.ts';
import { limits } from '../../crds/limits.ts';
import { prices } from '../work/limits.ts';
import { blockParams, type BodyBlock, bodyBlocks, type BodyExpression, type BodyNode } from './body-syntax.ts';

type Ast = hbs.AST.Node;
type Call = Pick<hbs.AST.MustacheStatement, 'path' | 'params' | 'hash' | 'loc'>;

/** A parsed `body_template`, and the units of work that parsing takes. */
interface BodyTemplate {
  readonly nodes: readonly BodyNode[];
  readonly cost: number;
}

/**
 * Parses with the grammar of Handlebars and lets only the default helpers pass; the last templates are remembered.
 * @throws TemplateError
 */
export const parseBody: (source: string) => BodyTemplate = memoize(
  templateLimits.remembered,
  parse,
  ({ cost }) => (cost / prices.token) * templateLimits.tokenWeight,
);

/** The problem of a template with its place, or undefined for one that can be used. */
export function bodyTemplateProblem(source: string): string | undefined {
  try {
    parseBody(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { line, column } = placeOf(String(source), error.offset);
    return `${error.message} (line ${line}, column ${column} of the template)`;
  }
}

/** Units of work that parsing takes. @throws TemplateError */
export const bodyTemplateCost = (source: string): number => parseBody(source).cost;

function parse(source: string): BodyTemplate {
  if (typeof source !== 'string') throw new TemplateError('a template must be a string', 0);
  if (source.length > limits.templateLength) {
    throw new TemplateError(`the template is longer than ${limits.templateLength} characters`, 0);
  }
  const scanned = scan(source);
  if (scanned.cost === 0) return { nodes: source === '' ? [] : [{ kind: 'text', text: source }], cost: 0 };
  return { nodes: new BodyConverter(scanned).body(parseHandlebars(scanned)), cost: scanned.cost };
}

const known = `known are ${[...bodyBlocks, 'else', 'lookup'].join(', ')}`;

/** Turns a Handlebars tree into our own, and refuses what spec 3 §2.4 does not name. */
class BodyConverter {
  readonly #scanned: Scanned;

  constructor(scanned: Scanned) {
    this.#scanned = scanned;
  }

  body(program: hbs.AST.Program | null | undefined): BodyNode[] {
    return (program?.body ?? []).flatMap((statement) => this.#statement(statement));
  }

  #statement(node: Ast): BodyNode[] {
    if (node.type === 'CommentStatement') return [];
    if (node.type === 'ContentStatement') return textNode((node as hbs.AST.ContentStatement).value);
    if (node.type === 'MustacheStatement') {
      return [{ kind: 'value', value: this.#mustache(node as hbs.AST.MustacheStatement) }];
    }
    if (node.type === 'BlockStatement') return [this.#block(node as hbs.AST.BlockStatement)];
    return this.#refuse(`${node.type.startsWith('Partial') ? 'partials' : 'decorators'} are not supported`, node);
  }

  #mustache(node: hbs.AST.MustacheStatement): BodyExpression {
    if (node.params.length > 0 || bareName(node.path) === 'lookup') return this.#lookup(node);
    const name = bareName(node.path);
    if (bodyBlocks.some((block) => block === name)) {
      return this.#refuse(`'${name}' is a block; write {{#${name} …}} … {{/${name}}}`, node);
    }
    this.#refuseHash(node);
    if (node.path.type !== 'PathExpression') return this.#refuse('write a literal without braces', node);
    return this.#path(node.path as hbs.AST.PathExpression);
  }

  #block(node: hbs.AST.BlockStatement): BodyNode {
    const kind = bodyBlocks.find((candidate) => candidate === bareName(node.path));
    if (kind === undefined) return this.#refuse(`unknown block '${String(node.path.original)}'; ${known}`, node);
    const [subject, extra] = node.params;
    if (subject === undefined || extra !== undefined) return this.#refuse(`'${kind}' takes one argument`, node);
    return {
      kind,
      subject: this.#expression(subject),
      includeZero: this.#includeZero(kind, node),
      params: this.#params(kind, node),
      body: this.body(node.program),
      otherwise: this.body(node.inverse),
    };
  }

  /** Further ones would never have a value. */
  #params(kind: BodyBlock, node: hbs.AST.BlockStatement): readonly string[] {
    const params = node.program?.blockParams ?? [];
    if (params.length <= blockParams) return params;
    return this.#refuse(`'${kind}' has ${params.length} names behind 'as'; it may have ${blockParams}`, node);
  }

  /** The one named argument of the default helpers. */
  #includeZero(kind: BodyBlock, node: hbs.AST.BlockStatement): BodyExpression | undefined {
    const pairs = node.hash?.pairs ?? [];
    const [pair, extra] = pairs;
    if (pair === undefined) return undefined;
    if ((kind === 'if' || kind === 'unless') && extra === undefined && pair.key === 'includeZero') {
      return this.#expression(pair.value);
    }
    return this.#refuse(`'${kind}' has no argument named '${pair.key}'`, node);
  }

  #expression(node: Ast): BodyExpression {
    if (node.type === 'PathExpression') return this.#path(node as hbs.AST.PathExpression);
    if (node.type === 'SubExpression') return this.#lookup(node as hbs.AST.SubExpression);
    if (node.type === 'NullLiteral') return { kind: 'literal', value: null };
    if (node.type === 'UndefinedLiteral') return { kind: 'literal', value: undefined };
    return { kind: 'literal', value: (node as hbs.AST.StringLiteral).value };
  }

  #lookup(node: Call): BodyExpression {
    if (bareName(node.path) !== 'lookup') {
      const { original } = node.path as hbs.AST.PathExpression;
      return this.#refuse(`unknown helper '${original}'; ${known}`, node);
    }
    this.#refuseHash(node);
    const [subject, field, extra] = node.params;
    if (subject === undefined || field === undefined || extra !== undefined) {
      return this.#refuse("'lookup' takes a value and a key", node);
    }
    return { kind: 'lookup', subject: this.#expression(subject), field: this.#expression(field) };
  }

  #path(node: hbs.AST.PathExpression): BodyExpression {
    const { data, depth, original } = node;
    const parts = node.parts.map(String);
    const isScoped = /^(?:\.|this(?=[./]|$))/.test(original);
    const from = data ? 'data' : depth === 0 && !isScoped ? 'name' : 'context';
    return { kind: 'path', from, depth, parts };
  }

  #refuseHash(node: Call): void {
    if ((node.hash?.pairs.length ?? 0) > 0) this.#refuse('named arguments are not supported here', node);
  }

  #refuse(message: string, node: Pick<Ast, 'loc'>): never {
    throw new TemplateError(message, offsetOf(node.loc, this.#scanned));
  }
}

const textNode = (text: string): BodyNode[] => (text === '' ? [] : [{ kind: 'text', text }]);

/** The name of a path that is one plain word, as helpers are called. */
function bareName(node: Ast): string | undefined {
  if (node.type !== 'PathExpression') return undefined;
  const { data, depth, parts, original } = node as hbs.AST.PathExpression;
  return !data && depth === 0 && parts.length === 1 && String(parts[0]) === original ? original : undefined;
}
