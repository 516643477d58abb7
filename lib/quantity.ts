/** A number with an optional sign, then a suffix or an exponent, as Kubernetes reads amounts (apimachinery, Quantity). */
const form = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d{1,2}))?$/;

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of an amount, as near as a number can hold it; undefined for a text that Kubernetes does not take. */
export function quantityValue(text: string): number | undefined {
  const [, number, suffix, exponent] = form.exec(text) ?? [];
  if (number === undefined) return undefined;
  const factor = suffix === undefined ? 10 ** Number(exponent ?? 0) : (factors[suffix] ?? 1);
  return Number(number) * factor;
}

export const isQuantity = (text: string): boolean => quantityValue(text) !== undefined;
