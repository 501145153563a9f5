import { serviceNow } from '../../../ui/clock.ts'
import { INTERVAL_UNITS } from '#shared/monitors.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../../api/change.ts'
import { changeMonitor, monitorQuery, type Monitor, type MonitorChange } from '../../../api/monitor-queries.ts'
import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { ErrorNote } from '../../../forms/error-note.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid, SelectField } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Form, FormRow } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import typeStyles from '../../../ui/type.module.css'
import {
  toMonitorChange,
  toMonitorDraft,
  findFaults,
  MONITOR_BOUNDS,
  type MonitorDraft,
  type NumberName,
} from './monitor-draft.ts'
import { NextRuns } from './settings-card.tsx'
import { monitorsTexts } from './texts.ts'

const texts = monitorsTexts.form

const NUMBERS: Readonly<Record<NumberName, { label: string; hint?: string }>> = {
  grace: { label: texts.grace, hint: texts.graceHint },
  limit: { label: texts.limit, hint: texts.limitHint },
  failures: { label: texts.failures },
  recoveries: { label: texts.recoveries },
}
const LABELS = {
  schedule: texts.kind,
  timezone: monitorsTexts.timezone,
  checkin_margin_minutes: texts.grace,
  max_runtime_minutes: texts.limit,
  failure_issue_threshold: texts.failures,
  recovery_threshold: texts.recoveries,
}

/** The settings of a monitor in a dialog. */
export function EditMonitor({ monitor, onClose }: { monitor: Monitor; onClose: () => void }) {
  const [stored] = useState(monitor)
  const [draft, setDraft] = useState(() => toMonitorDraft(stored))
  const [tried, setTried] = useState(false)
  const save = useSave(stored)
  const change = toMonitorChange(stored, draft)
  const faults = findFaults(draft)
  const set = (part: Partial<MonitorDraft>) => {
    setDraft((before) => ({ ...before, ...part }))
    save.reset()
  }
  const faultOf = (name: keyof typeof faults): string | undefined => (tried ? faults[name] : undefined)
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (Object.values(faults).some((one) => one !== undefined)) return focusFirstInvalid(form)
    if (Object.keys(change).length === 0) return onClose()
    save.mutate(change, { onSuccess: onClose })
  }
  const numberField = (name: NumberName) => (
    <Field
      label={NUMBERS[name].label}
      hint={NUMBERS[name].hint}
      error={faultOf(name)}
      value={draft[name]}
      inputMode="numeric"
      autoComplete="off"
      placeholder={String(MONITOR_BOUNDS[name].unset)}
      onChange={(event) => set({ [name]: event.target.value })}
    />
  )
  return (
    <Dialog open onClose={onClose} title={monitorsTexts.editTitle} wide>
      <Form className={fitStyles.spaced} onSubmit={submit}>
        <Note tone="blue" icon="info">
          {monitorsTexts.editNote}
        </Note>
        <ErrorNote error={save.error} before={texts.notSaved} labels={LABELS} />
        <FormRow>
          <SelectField
            label={texts.kind}
            value={draft.kind}
            data-autofocus
            onChange={({ target: { value } }) =>
              set({ kind: value === 'interval' || value === 'none' ? value : 'crontab' })
            }
          >
            {stored.schedule === null ? <option value="none">{texts.none}</option> : null}
            <option value="crontab">{texts.crontab}</option>
            <option value="interval">{texts.interval}</option>
          </SelectField>
          {draft.kind === 'crontab' ? (
            <Field
              label={texts.crontab}
              hint={texts.crontabHint}
              error={faultOf('crontab')}
              className={typeStyles.mono}
              value={draft.crontab}
              maxLength={256}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => set({ crontab: event.target.value })}
            />
          ) : null}
          {draft.kind === 'interval' ? (
            <FormRow>
              <Field
                label={texts.every}
                error={faultOf('every')}
                value={draft.every}
                inputMode="numeric"
                autoComplete="off"
                onChange={(event) => set({ every: event.target.value })}
              />
              <SelectField
                label={texts.unit}
                value={draft.unit}
                onChange={({ target: { value } }) =>
                  set({ unit: INTERVAL_UNITS.find((one) => one === value) ?? draft.unit })
                }
              >
                {INTERVAL_UNITS.map((unit) => (
                  <option key={unit} value={unit}>
                    {texts.units[unit]}
                  </option>
                ))}
              </SelectField>
            </FormRow>
          ) : null}
        </FormRow>
        {draft.kind === 'crontab' ? (
          <Field
            label={monitorsTexts.timezone}
            hint={texts.timezoneHint}
            error={faultOf('timezone')}
            value={draft.timezone}
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set({ timezone: event.target.value })}
          />
        ) : null}
        <FormRow>
          {numberField('grace')}
          {numberField('limit')}
          {numberField('failures')}
          {numberField('recoveries')}
        </FormRow>
        {draft.kind === 'crontab' ? (
          <div>
            <h3 className={typeStyles.meta}>{texts.next}</h3>
            {change.schedule === undefined && change.timezone === undefined ? (
              <NextRuns monitor={stored} />
            ) : (
              <Preview crontab={draft.crontab.trim()} timezone={draft.timezone.trim()} />
            )}
          </div>
        ) : null}
        <DialogFoot onClose={onClose} submit={texts.save} busy={save.isPending} />
      </Form>
    </Dialog>
  )
}

/** The next runs of a schedule that is not saved yet. */
function Preview({ crontab, timezone }: { crontab: string; timezone: string }) {
  const runs = useQuery({
    queryKey: ['next-runs', crontab, timezone],
    queryFn: async () => (await import('./next-runs.ts')).nextRuns(crontab, timezone, new Date(serviceNow())),
    retry: false,
    gcTime: 0,
    meta: { quiet: true },
  })
  if (runs.isPending) return <p>{texts.nextPending}</p>
  return runs.isError ? <p>{texts.nextUnknown}</p> : <NextRuns monitor={{ next_runs: runs.data, schedule: null }} />
}

/** Undo brings the settings before back, except that a monitor keeps the schedule it got. */
function useSave(stored: Monitor) {
  const { id, slug } = stored
  const before = toMonitorDraft(stored)
  return useChange({
    send: (body: MonitorChange) => changeMonitor(id, body),
    touches: () => [['monitors']],
    settle: (client, answer) => client.setQueryData(monitorQuery(id).queryKey, answer),
    said: () => texts.saved(slug),
    ...(stored.schedule === null
      ? {}
      : { undo: (_body: MonitorChange, answer: Monitor) => changeMonitor(id, toMonitorChange(answer, before)) }),
    failed: null,
  })
}
