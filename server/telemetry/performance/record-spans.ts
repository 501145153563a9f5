import type { Deltas, StoredMetric } from './deltas.ts'
import type { CountedSpans, PerformanceFact } from './fact.ts'
import type { Series } from './record.queries.ts'
import { operationSeries, partSeries } from './series.ts'

/** The spans of a batch, counted in the series of their operations and parts. */
export class BatchSpans {
  /** By project, transaction, environment and what the spans do: transactions of a batch repeat. */
  readonly #series = new Map<string, Series>()

  /** Series of the facts, each once. */
  wanted(facts: readonly PerformanceFact[]): Series[] {
    for (const { projectId, spans = [] } of facts) {
      for (const one of spans) {
        for (const { op, name } of one.operations) this.#operation(projectId, one, op, name)
        for (const { name } of one.parts) this.#part(projectId, one, name)
      }
    }
    return [...this.#series.values()]
  }

  /** @param assigned for each wanted series the one to use */
  count({ projectId, at, spans = [] }: PerformanceFact, assigned: ReadonlyMap<string, string>, deltas: Deltas): void {
    const sketchOf = ({ id }: Series, metric: StoredMetric) =>
      deltas.at(projectId, { id: assigned.get(id) ?? id, device: '' }, at, metric)
    for (const one of spans) {
      for (const { op, name, ms, failures, hits } of one.operations) {
        const series = this.#operation(projectId, one, op, name)
        const delta = sketchOf(series, 'span')
        for (const value of ms) delta.sketch.add(value)
        delta.failures += failures
        if (hits.length === 0) continue
        const { sketch } = sketchOf(series, 'cache_hit')
        for (const hit of hits) sketch.add(hit ? 1 : 0)
      }
      for (const { name, ms } of one.parts) {
        const { sketch } = sketchOf(this.#part(projectId, one, name), 'part')
        for (const value of ms) sketch.add(value)
      }
    }
  }

  #operation(projectId: string, of: CountedSpans, op: string, name: string): Series {
    const key = `${projectId}\n${of.transaction}\n${of.environment}\n${op}\n${name}`
    return this.#get(key, () => operationSeries(projectId, of, { op, name }))
  }

  #part(projectId: string, of: CountedSpans, name: string): Series {
    const key = `${projectId}\n${of.transaction}\n${of.environment}\n${name}`
    return this.#get(key, () => partSeries(projectId, of, name))
  }

  #get(key: string, make: () => Series): Series {
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const made = make()
    this.#series.set(key, made)
    return made
  }
}
