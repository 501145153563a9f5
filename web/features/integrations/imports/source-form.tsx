import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { importsQuery } from '../../../api/import-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { importTexts } from './texts.ts'
import styles from './imports.module.css'

const texts = importTexts.source
const EMPTY = { url: '', organisation: '', token: '' }
const FIELDS = ['url', 'organisation', 'token'] as const

/** The first step: address, organisation and token of the source, which is tried immediately. */
export function SourceForm() {
  const navigate = useNavigate()
  const [given, setGiven] = useState(EMPTY)
  const [tried, setTried] = useState(false)
  const connect = useChange({
    send: () => call('POST /api/org/imports', { body: given }),
    same: () => 'connect',
    touches: () => [importsQuery.queryKey],
    failed: null,
  })
  const errorOf = (field: (typeof FIELDS)[number]): string | undefined =>
    tried && given[field].trim() === '' ? texts.missing[field] : undefined
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (FIELDS.some((field) => given[field].trim() === '')) return focusFirstInvalid(form)
    connect.mutate(undefined, { onSuccess: ({ id }) => void navigate(paths.import(id)) })
  }
  return (
    <Card title={texts.title}>
      <Form className={styles.form} onSubmit={submit}>
        {FIELDS.map((field) => (
          <Field
            key={field}
            label={texts[field]}
            hint={texts[`${field}Hint`]}
            error={errorOf(field)}
            value={given[field]}
            type={field === 'token' ? 'password' : field === 'url' ? 'url' : 'text'}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => {
              setGiven({ ...given, [field]: event.target.value.trim() })
              connect.reset()
            }}
          />
        ))}
        {connect.error === null ? null : (
          <Note tone="red" icon="warn" role="alert">
            {errorSentence(connect.error, { url: texts.url, organisation: texts.organisation, token: texts.token })}
          </Note>
        )}
        <Toolbar align="end">
          <Button look="primary" type="submit" busy={connect.isPending}>
            {texts.submit}
          </Button>
        </Toolbar>
      </Form>
    </Card>
  )
}
