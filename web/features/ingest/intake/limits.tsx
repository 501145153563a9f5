import { ErrorNote } from '../../../forms/error-note.tsx'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { MAX_EVENTS_PER_DAY, MAX_EVENTS_PER_MINUTE, MAX_NEW_ISSUES } from '#shared/limits.ts'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import type { Intake } from '../../../api/intake-queries.ts'
import { useCan } from '../../../app/can.ts'
import { Card } from '../../../ui/card.tsx'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Switch } from '../../../ui/switch.tsx'
import { intakeTexts } from './texts.ts'
import { parseLimit } from './model.ts'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'
import styles from './limits.module.css'

const DEFAULT_PER_MINUTE = 3_000

type LimitChange = {
  rate_limit_per_minute?: number | null
  new_issues_per_hour?: number
  new_issues_per_day?: number
  spike_protection?: boolean
}

type Props = { projectId: string; limits: Intake['limits']; quota: Intake['quota'] }

/** The limits of the project; admins can change them. */
export function IntakeLimits({ projectId, limits, quota }: Props) {
  const may = useCan('projects.write')
  const settingsChange = useChange({
    send: (body: LimitChange) => call('PATCH /api/projects/:projectId/settings', { params: { projectId }, body }),
    touches: () => [['projects'], ['intake']],
    said: () => intakeTexts.saved,
    failed: intakeTexts.notSaved,
  })
  const rate = (count: number | null): string =>
    count === null ? intakeTexts.off : intakeTexts.rate(formatCount(count))
  const created = limits.new_issues
  const bound = (count: number): string => (count === 0 ? intakeTexts.noLimit : formatCount(count))
  const perMinute =
    limits.per_minute === null
      ? intakeTexts.off
      : intakeTexts.burst(formatCount(limits.per_minute), formatCount(limits.burst_10s))
  return (
    <Card title={intakeTexts.limitsTitle}>
      <dl className={classNames(settingsStyles.keyValues, typeStyles.metaTerms, settingsStyles.body)}>
        <div>
          <dt>{intakeTexts.perMinute}</dt>
          <dd>{perMinute}</dd>
        </div>
        <div>
          <dt>{intakeTexts.entries}</dt>
          <dd>{rate(limits.entries_per_minute)}</dd>
        </div>
        <div>
          <dt>{intakeTexts.sessions}</dt>
          <dd>{rate(limits.sessions_per_minute)}</dd>
        </div>
        <div>
          <dt>{intakeTexts.newIssues}</dt>
          <dd>
            {intakeTexts.newIssuesUsed(
              formatCount(created.used_this_hour),
              bound(created.per_hour),
              formatCount(created.used_today),
              bound(created.per_day),
            )}
          </dd>
        </div>
        <div>
          <dt>{intakeTexts.quota}</dt>
          <dd>
            {quota.events_per_day === null
              ? intakeTexts.quotaNone
              : intakeTexts.quotaUsed(formatCount(quota.used_today), formatCount(quota.events_per_day))}
          </dd>
        </div>
      </dl>
      <LimitsForm key={projectId} projectId={projectId} limits={limits} quota={quota} why={may.why} />
      <ul>
        <SettingRow title={intakeTexts.floodSampling} more={intakeTexts.floodSamplingMore}>
          <Switch
            label={intakeTexts.floodSampling}
            checked={limits.spike_protection}
            why={may.why}
            onChange={(on) => settingsChange.mutate({ spike_protection: on })}
          />
        </SettingRow>
      </ul>
    </Card>
  )
}

const FIELDS = ['rate', 'quota', 'hour', 'day'] as const
type LimitName = (typeof FIELDS)[number]

/** Label, hint, the sentence about an invalid number, and the bounds of a limit. */
const LIMITS: Readonly<Record<LimitName, { label: string; hint: string; wrong: string; min: number; max: number }>> = {
  rate: {
    label: intakeTexts.limitField,
    hint: intakeTexts.limitHint(formatCount(DEFAULT_PER_MINUTE)),
    wrong: intakeTexts.limitWrong,
    min: 1,
    max: MAX_EVENTS_PER_MINUTE,
  },
  quota: {
    label: intakeTexts.quotaField,
    hint: intakeTexts.quotaHint,
    wrong: intakeTexts.quotaWrong,
    min: 0,
    max: MAX_EVENTS_PER_DAY,
  },
  hour: {
    label: intakeTexts.newPerHour,
    hint: intakeTexts.newIssuesHint,
    wrong: intakeTexts.newIssuesWrong,
    min: 0,
    max: MAX_NEW_ISSUES,
  },
  day: {
    label: intakeTexts.newPerDay,
    hint: intakeTexts.newIssuesHint,
    wrong: intakeTexts.newIssuesWrong,
    min: 0,
    max: MAX_NEW_ISSUES,
  },
}
const LABELS = {
  rate_limit_per_minute: LIMITS.rate.label,
  events_per_day: LIMITS.quota.label,
  new_issues_per_hour: LIMITS.hour.label,
  new_issues_per_day: LIMITS.day.label,
}

/** The limits that can be changed; the quota belongs to the organisation and is sent by itself. */
function LimitsForm({ projectId, limits, quota, why }: Props & { why: string | undefined }) {
  /** Typed values; the other fields follow the stored ones. */
  const [typed, setTyped] = useState<Partial<Record<LimitName, string>>>({})
  const forget = (...names: readonly LimitName[]) =>
    setTyped((before) => ({ ...before, ...Object.fromEntries(names.map((name) => [name, undefined])) }))
  const settings = useChange({
    send: (body: LimitChange) => call('PATCH /api/projects/:projectId/settings', { params: { projectId }, body }),
    touches: () => [['projects'], ['intake']],
    said: () => intakeTexts.saved,
    failed: null,
  })
  const quotaChange = useChange({
    send: (perDay: number | null) => call('PATCH /api/organization/quota', { body: { events_per_day: perDay } }),
    touches: () => [['intake']],
    said: () => intakeTexts.savedQuota,
    failed: null,
  })
  const stored: Readonly<Record<LimitName, number | null>> = {
    rate: limits.is_default ? null : limits.per_minute,
    quota: quota.events_per_day,
    hour: limits.new_issues.per_hour,
    day: limits.new_issues.per_day,
  }
  const textOf = (name: LimitName): string => typed[name] ?? (stored[name] === null ? '' : String(stored[name]))
  const valueOf = (name: LimitName) => parseLimit(textOf(name), LIMITS[name].min, LIMITS[name].max)
  const isDirty = (name: LimitName): boolean => typed[name] !== undefined && valueOf(name) !== stored[name]
  const dirty = FIELDS.filter(isDirty)
  const save = () => {
    const values = { rate: valueOf('rate'), quota: valueOf('quota'), hour: valueOf('hour'), day: valueOf('day') }
    if (why !== undefined) return
    if (FIELDS.some((name) => values[name] === undefined)) return
    const body: LimitChange = {
      ...(isDirty('rate') ? { rate_limit_per_minute: values.rate ?? null } : {}),
      ...(isDirty('hour') ? { new_issues_per_hour: values.hour ?? 0 } : {}),
      ...(isDirty('day') ? { new_issues_per_day: values.day ?? 0 } : {}),
    }
    // Each waits for its own answer only: the limits of the project do not delay the quota.
    if (Object.keys(body).length > 0 && !settings.isPending)
      settings.mutate(body, { onSuccess: () => forget('rate', 'hour', 'day') })
    if (isDirty('quota') && !quotaChange.isPending)
      quotaChange.mutate(values.quota ?? null, { onSuccess: () => forget('quota') })
  }
  const refusal = settings.error ?? quotaChange.error
  return (
    <Form onSubmit={save}>
      <ErrorNote error={refusal} before={intakeTexts.notSaved} labels={LABELS} />
      <div className={classNames(styles.forms, narrowStyles.oneColumnAt600, settingsStyles.body)}>
        {FIELDS.map((name) => (
          <Field
            key={name}
            label={LIMITS[name].label}
            value={textOf(name)}
            readOnly={why !== undefined}
            inputMode="numeric"
            hint={LIMITS[name].hint}
            error={valueOf(name) === undefined ? LIMITS[name].wrong : undefined}
            onChange={(event) => {
              const { value } = event.target
              setTyped((before) => ({ ...before, [name]: value }))
            }}
          />
        ))}
      </div>
      <SaveFoot
        dirty={dirty.length > 0}
        busy={settings.isPending || quotaChange.isPending}
        why={why}
        onSave={save}
        onDiscard={() => {
          setTyped({})
          settings.reset()
          quotaChange.reset()
        }}
      />
    </Form>
  )
}
