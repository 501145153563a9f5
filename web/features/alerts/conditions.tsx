import { useId, type ReactNode } from 'react'
import {
  PERCENTILES,
  PERFORMANCE_METRICS,
  MONITOR_KINDS,
  SECURITY_KINDS,
  alertTrigger,
  type TriggerType,
} from '#shared/alert-rules.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { formatMinutes } from '../../subjects/alerts/look.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { FieldHint } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import narrowStyles from '../../ui/narrow.module.css'
import { builderTexts } from './builder-texts.ts'
import {
  conditionProblems,
  isNamed,
  isPercent,
  withMetric,
  type AlertKind,
  type ConditionProblem,
  type ConditionsDraft,
} from './rule-draft.ts'
import { ChoiceSlot, Sentence, TextSlot } from './sentence.tsx'
import { alertsTexts } from './texts.ts'
import styles from './conditions.module.css'

const texts = builderTexts
const { slots } = texts

/** Minutes to choose from; a stored value of the API is added. */
const WINDOWS = [5, 15, 30, 60, 120, 360, 720, 1440, 2880, 10_080] as const

type ConditionsProps = {
  trigger: TriggerType
  draft: ConditionsDraft
  projectName: string
  /** Shows what is missing. */
  tried: boolean
  onChange: (draft: ConditionsDraft) => void
}

const sentenceOf = (trigger: TriggerType, { metric, journeyBy }: ConditionsDraft): string => {
  if (trigger === 'performance_threshold') return isPercent(metric) ? texts.sentences.share : texts.sentences.percentile
  if (trigger === 'critical_path') return journeyBy === 'time' ? texts.sentences.pathTime : texts.sentences.pathFailures
  return texts.sentences[trigger]
}

/** The condition of a rule: one sentence whose slots depend on the trigger, and conditions that can be added. */
export function Conditions({ trigger, draft, projectName, tried, onChange }: ConditionsProps) {
  const errorId = useId()
  const change = (part: Partial<ConditionsDraft>) => onChange({ ...draft, ...part })
  const problems: ReadonlySet<ConditionProblem> = conditionProblems(trigger, draft)
  // A number is judged while it is typed, what was added when saving.
  const isWrong = (problem: ConditionProblem) =>
    problems.has(problem) && (tried || problem === 'threshold' || problem === 'multiplier' || problem.startsWith('min'))
  const shown = [...problems].filter(isWrong)
  const number = (key: 'threshold' | 'multiplier' | 'minSessions' | 'minCount') => (
    <TextSlot
      label={slots[key]}
      value={draft[key]}
      isWrong={isWrong(key)}
      errorId={errorId}
      onChange={(value) => change({ [key]: value })}
    />
  )
  const maxWindow = alertTrigger(trigger).maxWindowMinutes
  const windows = [...new Set([...WINDOWS.filter((minutes) => minutes <= maxWindow), draft.window])].toSorted(
    (a, b) => a - b,
  )
  return (
    <>
      <Sentence
        text={sentenceOf(trigger, draft)}
        slots={{
          project: <b>{projectName}</b>,
          threshold: number('threshold'),
          multiplier: number('multiplier'),
          minSessions: number('minSessions'),
          minCount: number('minCount'),
          window: (
            <ChoiceSlot
              label={slots.window}
              value={String(draft.window)}
              options={windows.map((minutes) => ({ value: String(minutes), label: formatMinutes(minutes) }))}
              onChange={(value) => change({ window: Number(value) })}
            />
          ),
          severity: (
            <ChoiceSlot
              label={slots.severity}
              value={draft.severity}
              options={[
                { value: '' as const, label: texts.anySeverity },
                ...SEVERITIES.map((value) => ({ value, label: alertsTexts.severities[value] })),
              ]}
              onChange={(severity) => change({ severity })}
            />
          ),
          metric: (
            <ChoiceSlot
              label={slots.metric}
              value={draft.metric}
              options={PERFORMANCE_METRICS.map((value) => ({ value, label: alertsTexts.metrics[value] }))}
              onChange={(metric) => onChange(withMetric(draft, metric))}
            />
          ),
          percentile: (
            <ChoiceSlot
              label={slots.percentile}
              value={draft.percentile}
              options={PERCENTILES.map((value) => ({ value, label: value.toUpperCase() }))}
              onChange={(percentile) => change({ percentile })}
            />
          ),
          measure: (
            <ChoiceSlot
              label={slots.measure}
              value={draft.journeyBy}
              options={[
                { value: 'failures' as const, label: texts.measures.failures },
                { value: 'time' as const, label: texts.measures.time },
              ]}
              onChange={(journeyBy) =>
                change({ journeyBy, threshold: journeyBy === 'time' ? DEFAULT_PATH_MS : DEFAULT_PATH_PERCENT })
              }
            />
          ),
        }}
      >
        {' '}
        <AddCondition trigger={trigger} draft={draft} onChange={change} />
      </Sentence>
      <Added trigger={trigger} draft={draft} isWrong={isWrong} errorId={errorId} onChange={change} />
      {shown.length === 0 ? null : (
        <FieldHint id={errorId} role="alert" bad>
          <Icon name="warn" />
          {shown.map((problem) => texts.numberMissing[problem]).join(' ')}
        </FieldHint>
      )}
    </>
  )
}

const DEFAULT_PATH_PERCENT = '2'
const DEFAULT_PATH_MS = '3000'

type Optional = 'environment' | 'minUsers' | 'kinds' | 'transaction' | 'monitor'

function optionalOf(trigger: TriggerType, { metric }: ConditionsDraft): readonly Optional[] {
  const { keys } = alertTrigger(trigger)
  return [
    ...(keys.includes('environment') ? (['environment'] as const) : []),
    ...(keys.includes('min_users') ? (['minUsers'] as const) : []),
    ...(keys.includes('kinds') ? (['kinds'] as const) : []),
    ...(keys.includes('monitor') ? (['monitor'] as const) : []),
    ...(keys.includes('transaction') && isNamed(metric) ? (['transaction'] as const) : []),
  ]
}

/** The first value of a condition that is added. */
const BEGINNINGS = {
  environment: { environment: 'production' },
  minUsers: { minUsers: '10' },
  kinds: { kinds: new Set([]) },
  transaction: { transaction: '' },
  monitor: { monitor: '' },
} as const satisfies Record<Optional, Partial<ConditionsDraft>>

type PartProps = {
  trigger: TriggerType
  draft: ConditionsDraft
  onChange: (part: Partial<ConditionsDraft>) => void
}

function AddCondition({ trigger, draft, onChange }: PartProps) {
  const left = optionalOf(trigger, draft).filter((one) => draft[one] === null)
  if (left.length === 0) return null
  return (
    <Menu
      label={texts.addCondition}
      trigger={
        <Button size="sm" look="ghost" icon="plus" className={styles.add}>
          {texts.addCondition}
        </Button>
      }
      entries={left.map((one) => ({
        label: texts.conditions[one],
        onSelect: () => onChange(BEGINNINGS[one]),
      }))}
    />
  )
}

type AddedProps = PartProps & { isWrong: (problem: ConditionProblem) => boolean; errorId: string }

/** The conditions that were added, each with a button that removes it. */
function Added({ trigger, draft, onChange, isWrong, errorId }: AddedProps) {
  const shown = optionalOf(trigger, draft).filter((one) => draft[one] !== null)
  return shown.map((one) => (
    <div key={one} className={styles.added}>
      <Sentence
        text={texts.added[one]}
        slots={{ field: <AddedField of={one} {...{ draft, onChange, isWrong, errorId }} /> }}
      >
        {' '}
        <IconButton
          size="sm"
          look="ghost"
          icon="x"
          label={texts.removeCondition(texts.conditions[one])}
          onClick={() => onChange({ [one]: null })}
        />
      </Sentence>
      {one === 'kinds' ? <Kinds trigger={trigger} draft={draft} onChange={onChange} /> : null}
    </div>
  ))
}

type AddedFieldProps = Omit<AddedProps, 'trigger'> & { of: Optional }

function AddedField({ of, draft, onChange, isWrong, errorId }: AddedFieldProps): ReactNode {
  if (of === 'kinds') return null
  return (
    <TextSlot
      label={slots[of]}
      isText={of !== 'minUsers'}
      {...(of === 'transaction' ? { placeholder: texts.transactionHint } : {})}
      value={draft[of] ?? ''}
      isWrong={isWrong(of)}
      errorId={errorId}
      onChange={(value) => onChange({ [of]: value })}
    />
  )
}

function Kinds({ trigger, draft, onChange }: PartProps) {
  const chosen = draft.kinds ?? new Set()
  const kinds: readonly AlertKind[] = trigger === 'monitor' ? MONITOR_KINDS : SECURITY_KINDS
  return (
    <ul className={classNames(styles.kinds, narrowStyles.oneColumnAt600)} aria-label={slots.kinds}>
      {kinds.map((kind) => (
        <li key={kind}>
          <label>
            <input
              type="checkbox"
              checked={chosen.has(kind)}
              onChange={({ target }) =>
                onChange({
                  kinds: new Set(kinds.filter((one) => (one === kind ? target.checked : chosen.has(one)))),
                })
              }
            />
            {alertsTexts.kinds[kind]}
          </label>
        </li>
      ))}
    </ul>
  )
}
