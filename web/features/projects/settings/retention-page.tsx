import { MAX_RETENTION_DAYS } from '#shared/limits.ts'
import { errorSentence } from '../../../api/change.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { FormCard, useSettingsDraft } from './form.tsx'
import { ProjectPart } from './project-part.tsx'
import { settingsTexts } from './texts.ts'

const texts = settingsTexts.retentionPage

const isDayCount = (text: string): boolean =>
  /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_RETENTION_DAYS

/** How long what a project sends is stored. */
export const ProjectRetentionPage = () => (
  <ProjectPart title={settingsTexts.retention} lead={texts.lead} heightPx={320}>
    {(project, why) => (
      <>
        <DaysCard key={project.id} project={project} why={why} />
        <Card title={texts.others}>
          <ul>
            {texts.fixed.map(([name, more, time]) => (
              <SettingRow key={name} title={name} more={more}>
                <Minor>{time}</Minor>
              </SettingRow>
            ))}
          </ul>
        </Card>
      </>
    )}
  </ProjectPart>
)

function DaysCard({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const { draft, set, error, form } = useSettingsDraft(project, {
    draftOf: (stored) => ({ days: String(stored.retention_days) }),
    patchOf: ({ days }: { days: string }) => ({ retention_days: Number(days) }),
    isWhole: ({ days }) => isDayCount(days),
    said: texts.saved,
    why,
  })
  const refusal = error === null ? undefined : errorSentence(error, { retention_days: texts.days })
  return (
    <>
      {isDayCount(draft.days) && Number(draft.days) < project.retention_days ? (
        <Note tone="amber" icon="warn" role="status">
          {texts.shorter(formatCount(Number(draft.days)))}
        </Note>
      ) : null}
      <FormCard title={texts.events} form={form}>
        <Field
          label={texts.days}
          hint={texts.daysHint}
          value={draft.days}
          readOnly={why !== undefined}
          inputMode="numeric"
          error={isDayCount(draft.days) ? refusal : texts.daysWrong}
          after={<Minor>{texts.daysUnit}</Minor>}
          onChange={(event) => set({ days: event.target.value.trim() })}
        />
      </FormCard>
    </>
  )
}
