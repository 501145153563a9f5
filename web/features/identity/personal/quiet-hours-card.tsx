import { useState } from 'react'
import { isEndless, WEEKDAYS } from '#shared/quiet-hours.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { preferencesQuery, type NotificationPreferences } from '../../../api/notification-queries.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field, FieldHint, FieldLegend, SelectField } from '../../../ui/field.tsx'
import { Form, FormRow } from '../../../ui/form.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { notificationsTexts } from './notifications-texts.ts'
import { SettingRow } from './setting-row.tsx'
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
  const [draft, setDraft] = useState(() => draftOf(stored))
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
      {stored.enabled ? (
        <QuietHoursForm
          draft={draft}
          stored={stored}
          isSaving={save.isPending}
          onChange={setDraft}
          onSave={() => save.mutate({ ...draft, enabled: true })}
          onDiscard={() => setDraft(draftOf(stored))}
        />
      ) : null}
    </Card>
  )
}

type QuietHoursFormProps = {
  draft: QuietHours
  stored: QuietHours
  isSaving: boolean
  onChange: (draft: QuietHours) => void
  onSave: () => void
  onDiscard: () => void
}

function QuietHoursForm({ draft, stored, isSaving, onChange, onSave, onDiscard }: QuietHoursFormProps) {
  const { start, end, time_zone: zone, days } = draft
  const problem = days.length === 0 ? texts.noDays : isEndless(draft) ? texts.endless : undefined
  const isUnchanged = isSame(draft, stored)
  const ownZone = browserZone()
  const submit = () => {
    if (problem === undefined && !isUnchanged) onSave()
  }
  return (
    <Form onSubmit={submit}>
      <div className={styles.narrowForm}>
        <FormRow>
          <Field
            label={texts.from}
            type="time"
            required
            value={start}
            onChange={(event) => onChange({ ...draft, start: event.target.value || start })}
          />
          <Field
            label={texts.until}
            type="time"
            required
            value={end}
            hint={end === start ? texts.wholeDay : end < start ? texts.nextDay : undefined}
            onChange={(event) => onChange({ ...draft, end: event.target.value || end })}
          />
        </FormRow>
        <SelectField
          label={texts.zone}
          value={zone}
          hint={
            zone === ownZone ? undefined : (
              <TextButton onClick={() => onChange({ ...draft, time_zone: ownZone })}>
                {texts.useZone(ownZone)}
              </TextButton>
            )
          }
          onChange={(event) => onChange({ ...draft, time_zone: event.target.value })}
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
                      ...draft,
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
      <SaveFoot
        dirty={!isUnchanged}
        busy={isSaving}
        problem={problem}
        save={texts.save}
        onSave={submit}
        onDiscard={onDiscard}
      />
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
