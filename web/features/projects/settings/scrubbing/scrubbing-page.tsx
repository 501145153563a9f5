import { SettingRow } from '../../../../frames/setting-row.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../../api/call.ts'
import type { ProjectSettings } from '../../../../api/queries.ts'
import { CostlyRules } from './costly-rules.tsx'
import { EraseUser } from './erase-user.tsx'
import { ProjectPart } from '../project-part.tsx'
import { SettingsForm, useSettingsDraft } from '../form.tsx'
import { ScrubPreview } from './preview.tsx'
import { blankScrubRule, ScrubRuleRow, type DraftRule } from './rule.tsx'
import { AreaField, splitLines } from '../../../../ui/area-field.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { Field } from '../../../../ui/field.tsx'
import { Switch } from '../../../../ui/switch.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { privacyTexts } from '../privacy-texts.ts'
import styles from '../../../../frames/settings.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import typeStyles from '../../../../ui/type.module.css'
import { Spacer } from '../../../../ui/stack.tsx'

const texts = privacyTexts.scrubbing

export const ProjectScrubbingPage = () => (
  <ProjectPart title={texts.title} lead={texts.lead} heightPx={420}>
    {(project, why) => (
      <>
        <CostlyRules project={project} />
        <ScrubbingForm key={project.id} project={project} why={why} />
        <EraseUser projectId={project.id} why={why} />
      </>
    )}
  </ProjectPart>
)

type Draft = { addresses: boolean; emails: boolean; fields: string; safe: string; rules: readonly DraftRule[] }

const draftOf = (project: ProjectSettings): Draft => ({
  addresses: project.scrub_ip_addresses,
  emails: project.scrub_email_addresses,
  fields: project.scrub_fields.join('\n'),
  safe: project.safe_fields.join('\n'),
  rules: project.scrub_rules.map((rule, index) => ({ ...rule, regex: rule.regex ?? '', key: `saved ${index}` })),
})

const patchOf = (draft: Draft) => ({
  scrub_ip_addresses: draft.addresses,
  scrub_email_addresses: draft.emails,
  scrub_fields: splitLines(draft.fields),
  safe_fields: splitLines(draft.safe),
  scrub_rules: draft.rules.map(({ path, pattern, regex, action }) => ({
    path,
    pattern,
    regex: pattern === 'custom' ? regex : null,
    action,
  })),
})

function ScrubbingForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const [eventId, setEventId] = useState('')
  const preview = useMutation({
    mutationFn: (sent: Draft) =>
      call('POST /api/projects/:projectId/scrubbing/preview', {
        params: { projectId: project.id },
        body: { ...patchOf(sent), ...(eventId.trim() === '' ? {} : { event_id: eventId.trim() }) },
      }),
  })
  const onChange = () => preview.reset()
  const { draft, set, error, form } = useSettingsDraft(project, {
    draftOf,
    patchOf,
    said: texts.saved,
    why,
    onChange,
  })
  const readOnly = why !== undefined
  return (
    <SettingsForm name={texts.title} error={error} failed={texts.failed} form={form}>
      <Card title={texts.always}>
        <ul className={styles.rows}>
          <SettingRow
            start={
              <Switch
                label={texts.addresses}
                checked={draft.addresses}
                why={why}
                onChange={(addresses) => set({ addresses })}
              />
            }
            title={texts.addresses}
            more={texts.addressesMore}
          />
          <SettingRow
            start={
              <Switch label={texts.emails} checked={draft.emails} why={why} onChange={(emails) => set({ emails })} />
            }
            title={texts.emails}
            more={texts.emailsMore}
          />
        </ul>
        <div className={classNames(styles.lists, narrowStyles.oneColumnAt600, styles.body)}>
          <AreaField
            label={texts.fields}
            hint={texts.fieldsHint}
            value={draft.fields}
            readOnly={readOnly}
            onChange={(fields) => set({ fields })}
          />
          <AreaField
            label={texts.safe}
            hint={texts.safeHint}
            value={draft.safe}
            readOnly={readOnly}
            onChange={(safe) => set({ safe })}
          />
        </div>
      </Card>
      <Card
        title={texts.rules}
        header={
          <>
            <Minor className={narrowStyles.hiddenAt600}>{texts.rulesMore}</Minor>
            <Spacer />
            <Button size="sm" icon="plus" why={why} onClick={() => set({ rules: [...draft.rules, blankScrubRule()] })}>
              {texts.add}
            </Button>
          </>
        }
      >
        {draft.rules.length === 0 ? (
          <Minor as="p" className={fitStyles.inset12}>
            {texts.noRules}
          </Minor>
        ) : null}
        {draft.rules.map((rule, index) => (
          <ScrubRuleRow
            key={rule.key}
            number={index + 1}
            rule={rule}
            why={why}
            onChange={(next) => set({ rules: draft.rules.map((one) => (one.key === rule.key ? next : one)) })}
            onRemove={() => set({ rules: draft.rules.filter((one) => one.key !== rule.key) })}
          />
        ))}
      </Card>
      <Card title={texts.preview}>
        <div className={classNames(typeStyles.smallHeads, fitStyles.insetGrid)}>
          <div className={styles.ask}>
            <Field
              label={texts.previewEvent}
              hint={texts.previewEventHint}
              className={typeStyles.mono}
              value={eventId}
              autoComplete="off"
              onChange={(event) => setEventId(event.target.value)}
            />
            <Button icon="eye" busy={preview.isPending} why={why} onClick={() => preview.mutate(draft)}>
              {texts.previewRun}
            </Button>
          </div>
          <ScrubPreview preview={preview.data} error={preview.error} />
        </div>
      </Card>
    </SettingsForm>
  )
}
