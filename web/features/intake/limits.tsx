import { MAX_EVENTS_PER_DAY, MAX_EVENTS_PER_MINUTE, MAX_NEW_ISSUES } from '#shared/limits.ts'
import { useState, type SubmitEvent } from 'react'
import { ApiError, call } from '../../api/call.ts'
import { reasonOf, useChange } from '../../api/change.ts'
import type { Intake } from '../../api/intake-queries.ts'
import { useCan } from '../../common/can.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { Switch } from '../../ui/switch.tsx'
import { Minor } from '../../ui/text.tsx'
import { intakeTexts } from './texts.ts'
import { commonTexts } from '../../common/texts.ts'
import { limitOf } from './model.ts'
import settingsStyles from '../../common/settings.module.css'
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
    failed: null,
  })
  const quotaChange = useChange({
    send: (perDay: number | null) => call('PATCH /api/organization/quota', { body: { events_per_day: perDay } }),
    touches: () => [['intake']],
    said: () => intakeTexts.savedQuota,
    failed: null,
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
      <dl className={`${settingsStyles.keyValues} ${settingsStyles.body}`}>
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
      <div className={`${styles.forms} ${settingsStyles.body}`}>
        <LimitForm
          key={`rate ${String(limits.is_default ? null : limits.per_minute)}`}
          label={intakeTexts.limitField}
          hint={intakeTexts.limitHint(formatCount(DEFAULT_PER_MINUTE))}
          wrong={intakeTexts.limitWrong}
          value={limits.is_default ? null : limits.per_minute}
          min={1}
          max={MAX_EVENTS_PER_MINUTE}
          why={may.why}
          busy={settingsChange.isPending}
          error={errorOf(settingsChange.error)}
          onSave={(value) => settingsChange.mutate({ rate_limit_per_minute: value })}
        />
        <LimitForm
          key={`quota ${String(quota.events_per_day)}`}
          label={intakeTexts.quotaField}
          hint={intakeTexts.quotaHint}
          wrong={intakeTexts.quotaWrong}
          value={quota.events_per_day}
          min={0}
          max={MAX_EVENTS_PER_DAY}
          why={may.why}
          busy={quotaChange.isPending}
          error={errorOf(quotaChange.error)}
          onSave={(value) => quotaChange.mutate(value)}
        />
        <LimitForm
          key={`hour ${String(created.per_hour)}`}
          label={intakeTexts.newPerHour}
          hint={intakeTexts.newIssuesHint}
          wrong={intakeTexts.newIssuesWrong}
          value={created.per_hour}
          min={0}
          max={MAX_NEW_ISSUES}
          why={may.why}
          busy={settingsChange.isPending}
          error={errorOf(settingsChange.error)}
          onSave={(value) => settingsChange.mutate({ new_issues_per_hour: value ?? 0 })}
        />
        <LimitForm
          key={`day ${String(created.per_day)}`}
          label={intakeTexts.newPerDay}
          hint={intakeTexts.newIssuesHint}
          wrong={intakeTexts.newIssuesWrong}
          value={created.per_day}
          min={0}
          max={MAX_NEW_ISSUES}
          why={may.why}
          busy={settingsChange.isPending}
          error={errorOf(settingsChange.error)}
          onSave={(value) => settingsChange.mutate({ new_issues_per_day: value ?? 0 })}
        />
      </div>
      <ul>
        <li className={settingsStyles.row}>
          <div>
            <b>{intakeTexts.floodSampling}</b>
            <Minor as="p">{intakeTexts.floodSamplingMore}</Minor>
          </div>
          <Switch
            label={intakeTexts.floodSampling}
            checked={limits.spike_protection}
            why={may.why}
            onChange={(on) => settingsChange.mutate({ spike_protection: on })}
          />
        </li>
      </ul>
    </Card>
  )
}

const errorOf = (error: Error | null): string | undefined => (error instanceof ApiError ? reasonOf(error) : undefined)

type LimitFormProps = {
  label: string
  hint: string
  wrong: string
  /** Null for the default. */
  value: number | null
  min: number
  max: number
  why: string | undefined
  busy: boolean
  error: string | undefined
  onSave: (value: number | null) => void
}

/** A field for a number or nothing. */
function LimitForm({ label, hint, wrong, value, min, max, why, busy, error, onSave }: LimitFormProps) {
  const saved = value === null ? '' : String(value)
  const [text, setText] = useState(saved)
  const parsed = limitOf(text, min, max)
  const dirty = text.trim() !== saved
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (dirty && parsed !== undefined && why === undefined && !busy) onSave(parsed)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label={label}
        value={text}
        readOnly={why !== undefined}
        inputMode="numeric"
        hint={hint}
        error={parsed === undefined ? wrong : error}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" busy={busy} why={why ?? (dirty ? undefined : commonTexts.saved)}>
        {commonTexts.save}
      </Button>
    </form>
  )
}
