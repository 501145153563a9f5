import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { meQuery, type Me } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { useFormModel } from '../../../forms/form-model.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { FormRow } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import typeStyles from '../../../ui/type.module.css'
import { organisationTexts } from './texts.ts'

const texts = organisationTexts.generalPage

/** The name of the organisation. */
export function OrganisationGeneralPage() {
  const me = useQuery(meQuery)
  const may = useCan('team.write')
  return (
    <>
      <SettingsHead title={organisationTexts.general} of={null} lead={texts.lead} />
      {me.data === undefined || may.allowed ? null : (
        <Note tone="blue" icon="lock">
          {texts.readOnly}
        </Note>
      )}
      <PageQuery query={me} what={organisationTexts.frame} heightPx={180}>
        {({ org }) => <NameCard key={org.id} org={org} why={may.why} />}
      </PageQuery>
    </>
  )
}

function NameCard({ org, why }: { org: Me['org']; why: string | undefined }) {
  const save = useChange({
    send: (name: string) => call('PATCH /api/org', { body: { name: name.trim() } }),
    // Other lists name the organisation too, such as sessions.
    touches: () => [meQuery.queryKey, ['sessions']],
    settle: (client, answer) =>
      client.setQueryData(meQuery.queryKey, (me) => (me === undefined ? me : { ...me, org: answer })),
    said: () => texts.saved,
    failed: null,
  })
  const { draft, change, tried, error, form } = useFormModel({
    stored: org.name,
    save,
    draftOf: (answer) => answer.name,
    isSame: (name, stored) => name.trim() === stored,
    isWhole: (name) => name.trim() !== '',
    why,
  })
  const { formRef, ...foot } = form
  return (
    <Card
      as="form"
      ref={formRef}
      noValidate
      title={texts.identity}
      onSubmit={(event) => {
        event.preventDefault()
        foot.onSave()
      }}
    >
      <FormRow className={settingsStyles.body}>
        <Field
          label={texts.name}
          hint={texts.nameHint}
          autoComplete="organization"
          maxLength={80}
          readOnly={why !== undefined}
          value={draft}
          error={
            tried && draft.trim() === ''
              ? texts.nameMissing
              : error === null
                ? undefined
                : errorSentence(error, { name: texts.name })
          }
          onChange={(event) => change(event.target.value)}
        />
        <Field label={texts.slug} hint={texts.slugHint} className={typeStyles.mono} disabled value={org.slug} />
      </FormRow>
      <SaveFoot {...foot} />
    </Card>
  )
}
