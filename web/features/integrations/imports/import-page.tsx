import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { importQuery, importsQuery, type Import } from '../../../api/import-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { MappingCard, MappingForm } from './mapping.tsx'
import { ProgressCard } from './progress-card.tsx'
import { ReportCard } from './report-card.tsx'
import { Steps } from './steps.tsx'
import { importTexts as texts } from './texts.ts'
import styles from './imports.module.css'
import typeStyles from '../../../ui/type.module.css'

/** One import: mapping, progress, report. */
export function ImportPage() {
  const { importId } = useParams({ from: '/signed-in/shell/org/import/$importId' })
  const one = useQuery(importQuery(importId))
  if (one.data === undefined)
    return one.error === null ? (
      <Skeleton heightPx={420} label={appTexts.loading} />
    ) : (
      <Card>
        <QueryError what={texts.page.what} error={one.error} onRetry={() => void one.refetch()} />
      </Card>
    )
  return <Shown one={one.data} />
}

function Shown({ one }: { one: Import }) {
  const [stopping, setStopping] = useState(false)
  const change = useChange({
    send: (state: 'running' | 'paused' | 'stopped') =>
      call('PATCH /api/org/imports/:importId', { params: { importId: one.id }, body: { state } }),
    same: (state) => state,
    touches: () => [importsQuery.queryKey],
    settle: (client, answer) => client.setQueryData(importQuery(one.id).queryKey, answer),
    failed: texts.page.failed,
  })
  const { state } = one
  const client = useQueryClient()
  // Everything that pages show may have changed.
  useEffect(() => {
    if (state === 'done') void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'imports' })
  }, [client, state])
  const isEnded = state === 'done' || state === 'stopped'
  const actions = isEnded ? (
    <Link {...paths.imports()} className={typeStyles.link}>
      {texts.page.again}
    </Link>
  ) : (
    <>
      {state === 'running' ? (
        <Button busy={change.isPending} onClick={() => change.mutate('paused')}>
          {texts.page.pause}
        </Button>
      ) : null}
      {state === 'paused' ? (
        <Button look="primary" busy={change.isPending} onClick={() => change.mutate('running')}>
          {texts.page.resume}
        </Button>
      ) : null}
      <Button look="danger" icon="stop" onClick={() => setStopping(true)}>
        {texts.page.stop}
      </Button>
    </>
  )
  return (
    <>
      <SettingsHead
        title={texts.page.title(new URL(one.source_url).host)}
        of={null}
        lead={texts.page.lead(one)}
        actions={actions}
      />
      <Steps one={one} />
      <Note tone="blue" icon="info">
        <b>{texts.silent}</b> {texts.silentMore}
      </Note>
      {one.problem === null ? null : (
        <Note tone={state === 'paused' ? 'red' : 'amber'} icon="warn" role="status">
          {one.problem}
          {state === 'paused' ? <NewToken one={one} /> : null}
        </Note>
      )}
      {state === 'stopped' ? (
        <Note tone="plain" icon="info">
          {texts.page.stopped}
        </Note>
      ) : null}
      {state === 'mapping' ? (
        <MappingForm one={one} />
      ) : (
        <>
          <div className={styles.columns}>
            <ProgressCard one={one} />
            <MappingCard one={one} />
          </div>
          <ReportCard one={one} />
        </>
      )}
      {stopping ? (
        <Dialog open onClose={() => setStopping(false)} title={texts.page.stopTitle}>
          <p>{texts.page.stopText}</p>
          <Toolbar align="end">
            <Button onClick={() => setStopping(false)}>{appTexts.cancel}</Button>
            <Button
              look="danger"
              onClick={() => {
                change.mutate('stopped')
                setStopping(false)
              }}
            >
              {texts.page.stop}
            </Button>
          </Toolbar>
        </Dialog>
      ) : null}
    </>
  )
}

/** A token in place of one that the source refuses. */
function NewToken({ one }: { one: Import }) {
  const [token, setToken] = useState('')
  const renew = useChange({
    send: () =>
      call('PATCH /api/org/imports/:importId', {
        params: { importId: one.id },
        body: { token: token.trim(), state: 'running' },
      }),
    same: () => 'token',
    touches: () => [importsQuery.queryKey],
    settle: (client, answer) => client.setQueryData(importQuery(one.id).queryKey, answer),
    failed: null,
  })
  return (
    <Form className={styles.token} onSubmit={() => (token.trim() === '' ? undefined : renew.mutate(undefined))}>
      <Field
        label={texts.token.label}
        hint={texts.token.hint}
        error={renew.error === null ? undefined : errorSentence(renew.error)}
        type="password"
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <Button type="submit" busy={renew.isPending}>
        {texts.token.submit}
      </Button>
    </Form>
  )
}
