import { Gauge, type Registry } from 'prom-client';

interface AskedGauge {
  readonly name: string;
  readonly help: string;
  readonly label: string;
}

/** A gauge whose values, by label, are asked for at each scrape. */
export function askedGauge(
  registry: Registry,
  { name, help, label }: AskedGauge,
  ask: () => Readonly<Record<string, number>>,
): void {
  void new Gauge({
    name: `windlass_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, number] of Object.entries(ask())) this.set({ [label]: value }, number);
    },
  });
}
