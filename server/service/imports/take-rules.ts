import { createRule } from '../../alerts/rules/create-rule.ts'
import type { NewRule } from '../../alerts/rules/rule.api.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import type { Difference } from './imports.api.ts'
import { saveThing, selectThings } from './imports.queries.ts'
import { projectHere } from './project-here.ts'
import type { Progress, Running } from './step.ts'
import { readList, nullWhenUnreadable, SourceRule } from './source.ts'

/** One page of the alert rules of a project. All are off here: someone looks at them before they tell anyone. */
export async function takeRules(running: Running): Promise<Progress> {
  const { app, actor, source, sourceName, position } = running
  const project = await projectHere(running)
  if (project === null) return { cursor: null }
  const path = `/api/0/projects/${source.org}/${project.sourceSlug}/rules/`
  const page = await readList(app, source, path, SourceRule, position.cursor).catch(nullWhenUnreadable)
  if (page === null) return { cursor: null, differences: [UNREADABLE] }
  const known = await selectThings(
    app.db,
    actor.orgId,
    sourceName,
    'rule',
    page.items.map(({ id }) => id),
  )
  const differences: Difference[] = []
  const made: { readonly sourceId: string; readonly id: string | null }[] = []
  for (const rule of page.items) {
    if (known.has(rule.id)) continue
    const mapped = mapRule(rule, project.id)
    differences.push(...mapped.differences)
    let id: string | null = null
    for (const input of mapped.rules) {
      try {
        id = (await createRule(app, actor, input)).id
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        differences.push(difference(error.message, 'Left out.', rule.name))
      }
    }
    made.push({ sourceId: rule.id, id })
  }
  const total = page.items.length
  return {
    cursor: page.next,
    done: { rules: made.filter(({ id }) => id !== null).length + known.size },
    total: { rules: total },
    differences,
    async write(tx) {
      for (const { sourceId, id } of made)
        await saveThing(tx, { org_id: actor.orgId, source: sourceName, kind: 'rule', source_id: sourceId, id })
    },
  }
}

const MINUTES: Readonly<Record<string, number>> = {
  '1m': 1,
  '5m': 5,
  '10m': 10,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '1d': 1_440,
}

type Mapped = { readonly rules: readonly NewRule[]; readonly differences: readonly Difference[] }

/** A rule with several conditions, of which any is enough, becomes one rule for each. Pure. */
export function mapRule(rule: SourceRule, projectId: string): Mapped {
  const differences: Difference[] = []
  const common = {
    projectId,
    enabled: false,
    cooldown_minutes: Math.min(rule.frequency ?? 30, 10_080),
    escalate_after_minutes: null,
    escalation_actions: [],
    close_with_issue: true,
    actions: actionsOf(rule, differences),
  }
  const environment = rule.environment == null || rule.environment === '' ? {} : { environment: rule.environment }
  const rules = rule.conditions.flatMap((condition, index): NewRule[] => {
    const name = `${rule.name.slice(0, 90)}${rule.conditions.length > 1 ? ` (${index + 1})` : ''}`
    switch (kindOf(condition.id)) {
      case 'FirstSeenEventCondition':
        return [{ ...common, name, trigger_type: 'new_issue', conditions: environment }]
      case 'RegressionEventCondition':
        return [{ ...common, name, trigger_type: 'issue_regression', conditions: environment }]
      case 'EventFrequencyCondition': {
        const minutes = MINUTES[String(condition['interval'])]
        const threshold = Number(condition['value'])
        if (minutes === undefined || !(threshold > 0)) break
        const conditions = { ...environment, threshold, window_minutes: minutes, multiplier: 1 }
        return [{ ...common, name, trigger_type: 'issue_spike', conditions }]
      }
      default:
    }
    const kind = kindOf(condition.id)
    differences.push(difference(`The condition ${kind} is not known here.`, 'Left out of the rule.', rule.name))
    return []
  })
  if (rules.length > 0)
    for (const filter of rule.filters)
      differences.push(
        difference(
          `The filter ${kindOf(filter.id)} is not known here.`,
          'The rule was made without it, and is off.',
          rule.name,
        ),
      )
  return { rules, differences }
}

const kindOf = (id: string | undefined): string => id?.split('.').at(-1) ?? 'without a name'

function actionsOf(rule: SourceRule, differences: Difference[]): NewRule['actions'] {
  const mails = rule.actions.filter(({ id }) => /Email/.test(id ?? ''))
  for (const action of rule.actions.filter(({ id }) => !/Email/.test(id ?? '')))
    differences.push(
      difference(
        `The action ${kindOf(action.id)} needs an address or a key that the source does not show.`,
        'The rule was made without it, and is off.',
        rule.name,
      ),
    )
  return mails.length > 0 ? [{ type: 'email', to: 'team' }] : []
}

const difference = (reason: string, instead: string, example: string): Difference => ({
  kind: 'rules',
  count: 1,
  reason,
  instead,
  examples: [example],
})

const UNREADABLE: Difference = {
  kind: 'rules',
  count: 1,
  reason: 'The source does not show alert rules to this token.',
  instead: 'No rule was made.',
  examples: [],
}
