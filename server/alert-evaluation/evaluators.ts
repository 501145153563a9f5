import type { TriggerType } from '#shared/alert-rules.ts'
import type { Evaluator } from './evaluator.ts'
import { spikes } from './spikes.ts'

/** How each trigger that is no fact is measured. */
export const EVALUATORS: ReadonlyMap<TriggerType, Evaluator> = new Map([['issue_spike', spikes]])
