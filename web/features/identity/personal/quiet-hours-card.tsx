import { isEndless, WEEKDAYS } from '#shared/quiet-hours.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { preferencesQuery, type NotificationPreferences } from '../../../api/notification-queries.ts'
import { useFormModel, type FormState } from '../../../forms/form-model.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field, FieldHint, FieldLegend, SelectField } from '../../../ui/field.tsx'
import { Form, FormRow } from '../../../ui/form.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { notificationsTexts } from './notifications-texts.ts'
import { SettingRow } from '../../../frames/setting-row.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './personal.module.css'
import quietStyles from './quiet-hours.module.css'

const texts = notificationsTexts.quiet

type QuietHours = NotificationPreferences['quiet_hours']

const browserZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** The stored quiet hours; a member who never chose a zone gets the browser's zone. */
const draftOf = (stored: QuietHours): QuietHours =>
  stored.enabled || stored.time_zone !== 'UTC' ? stored : { ...stored, time_zone: browserZone() }

/** When mails and pushes wait. */
export function QuietHoursCard({ preferences: { quiet_hours: stored } }: { preferences: NotificationPreferences }) {
  const save = useChange({
    send: (quiet: QuietHours) => call('PATCH /api/me/notifications', { body: { quiet_hours: quiet } }),
    touches: () => [preferencesQuery.queryKey],
    guess: (client, quiet) =>
      client.setQueryData(preferencesQuery.queryKey, (before) =>
        before === undefined ? before : { ...before, quiet_hours: quiet },
      ),
    said: () => texts.saved,
    failed: notificationsTexts.notSaved,
  })
  const { draft, set, form } = useFormModel({
    stored: draftOf(stored),
    save: { ...save, mutate: (sent, then) => save.mutate({ ...sent, enabled: true }, then) },
    draftOf: ({ quiet_hours: saved }: NotificationPreferences) => draftOf(saved),
    isSame: (quiet) => isSame(quiet, stored),
    isWhole: (quiet) => problemOf(quiet) === undefined,
  })
  return (
    <Card title={texts.title}>
      <ul className={settingsStyles.rows}>
        <SettingRow title={texts.hold} more={texts.holdMore}>
          <Switch
            label={texts.hold}
            checked={stored.enabled}
            onChange={(enabled) => save.mutate({ ...(enabled ? draft : stored), enabled })}
          />
        </SettingRow>
      </ul>
      {stored.enabled ? <QuietHoursForm draft={draft} onChange={set} form={form} /> : null}
    </Card>
  )
}

const problemOf = (draft: QuietHours): string | undefined =>
  draft.days.length === 0 ? texts.noDays : isEndless(draft) ? texts.endless : undefined

type QuietHoursFormProps = { draft: QuietHours; form: FormState; onChange: (part: Partial<QuietHours>) => void }

function QuietHoursForm({ draft, form: { formRef, ...foot }, onChange }: QuietHoursFormProps) {
  const { start, end, time_zone: zone, days } = draft
  const problem = problemOf(draft)
  const ownZone = browserZone()
  return (
    <Form formRef={formRef} onSubmit={foot.onSave}>
      <div className={styles.narrowForm}>
        <FormRow>
          <Field
            label={texts.from}
            type="time"
            required
            value={start}
            onChange={(event) => onChange({ start: event.target.value || start })}
          />
          <Field
            label={texts.until}
            type="time"
            required
            value={end}
            hint={end === start ? texts.wholeDay : end < start ? texts.nextDay : undefined}
            onChange={(event) => onChange({ end: event.target.value || end })}
          />
        </FormRow>
        <SelectField
          label={texts.zone}
          value={zone}
          hint={
            zone === ownZone ? undefined : (
              <TextButton onClick={() => onChange({ time_zone: ownZone })}>{texts.useZone(ownZone)}</TextButton>
            )
          }
          onChange={(event) => onChange({ time_zone: event.target.value })}
        >
          {zonesWith(zone, ownZone).map((name) => (
            <option key={name} value={name}>
              {name.replaceAll('_', ' ')}
            </option>
          ))}
        </SelectField>
        <fieldset className={classNames(quietStyles.week, fitStyles.bareLegend)}>
          <FieldLegend>{texts.days}</FieldLegend>
          <div className={quietStyles.days}>
            {WEEKDAYS.map((day) => (
              <label key={day}>
                <input
                  type="checkbox"
                  checked={days.includes(day)}
                  onChange={(event) =>
                    onChange({
                      days: WEEKDAYS.filter((one) => (one === day ? event.target.checked : days.includes(one))),
                    })
                  }
                />
                {texts.dayNames[day]}
              </label>
            ))}
          </div>
          {problem === undefined ? null : (
            <FieldHint bad role="alert">
              {problem}
            </FieldHint>
          )}
        </fieldset>
      </div>
      <SaveFoot {...foot} problem={problem} save={texts.save} />
    </Form>
  )
}

const isSame = (one: QuietHours, other: QuietHours): boolean =>
  one.start === other.start &&
  one.end === other.end &&
  one.time_zone === other.time_zone &&
  one.days.join() === other.days.join()

/** Some browsers leave out UTC and older names. */
const zonesWith = (...names: readonly string[]): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...names])].toSorted((a, b) => a.localeCompare(b, 'en'))
