import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { errorSentence } from '../../../api/change.ts'
import { meQuery } from '../../../api/queries.ts'
import { symbolsKey } from '../../../api/symbol-queries.ts'
import { uploadForm } from '../../../api/upload.ts'
import { can } from '../../../app/can.ts'
import { useKeys } from '../../../app/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatRate } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { Spacer, Stack, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { buildForm } from './model.ts'
import { symbolsTexts } from './texts.ts'
import styles from './symbols-page.module.css'

const texts = symbolsTexts.drop

/** An upload of this page: how much of it has left, or how it ended. */
type Sending = {
  readonly key: number
  readonly name: string
  readonly share: number
  readonly end: string | null
  readonly failed: boolean
}

/** Where files are dropped or chosen, with the progress of each. */
export function DropZone({ projectId }: { projectId: string }) {
  const client = useQueryClient()
  const role = useQuery(meQuery).data?.user.role ?? 'viewer'
  const may = can(role, 'uploads.write').allowed
  const [release, setRelease] = useState('')
  const [isOver, setOver] = useState(false)
  const [sent, setSent] = useState<readonly Sending[]>([])
  const picker = useRef<HTMLInputElement>(null)
  const next = useRef(0)
  const choose = () => picker.current?.click()
  useKeys(may ? [{ keys: 'u', label: symbolsTexts.upload, group: 'Page' as const, run: choose }] : [])

  const note = (key: number, change: Partial<Sending>) =>
    setSent((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)))
  const send = async (file: File) => {
    const key = next.current++
    setSent((all) => [...all, { key, name: file.name, share: 0, end: null, failed: false }])
    const { address, form } = buildForm(projectId, file, release)
    try {
      await uploadForm(address, form, (share) => note(key, { share }))
      note(key, { end: texts.done(file.name) })
      await client.invalidateQueries({ queryKey: symbolsKey(projectId) })
    } catch (error) {
      note(key, { end: texts.failed(file.name, errorSentence(error)), failed: true })
    }
  }
  const sendAll = async (files: FileList) => {
    for (const file of files) await send(file)
  }
  if (!may)
    return (
      <Note tone="plain" icon="info">
        {texts.viewer}
      </Note>
    )
  return (
    <Card
      as="div"
      className={styles.zone}
      data-over={isOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void sendAll(event.dataTransfer.files)
      }}
    >
      <Stack>
        <Toolbar>
          <Button icon="upload" keys="u" onClick={choose}>
            {texts.choose}
          </Button>
          <span>
            <b>{texts.title}</b> {texts.or}
          </span>
          <Spacer />
          <Minor>{texts.limits}</Minor>
        </Toolbar>
        <input
          ref={picker}
          className={typeStyles.hidden}
          type="file"
          multiple
          tabIndex={-1}
          aria-label={symbolsTexts.files}
          onChange={(event) => {
            if (event.target.files !== null) void sendAll(event.target.files).finally(() => (event.target.value = ''))
          }}
        />
        <Field
          label={texts.release}
          hint={texts.releaseHint}
          value={release}
          onChange={(event) => setRelease(event.target.value)}
        />
        {sent.map((one) => (
          <Note
            key={one.key}
            tone={one.failed ? 'red' : one.end === null ? 'plain' : 'green'}
            icon={one.failed ? 'warn' : one.end === null ? 'upload' : 'check'}
            role={one.failed ? 'alert' : 'status'}
          >
            {one.end ?? texts.sending(one.name, formatRate(one.share))}
          </Note>
        ))}
      </Stack>
    </Card>
  )
}
