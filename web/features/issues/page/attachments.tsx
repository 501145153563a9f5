import { useState } from 'react'
import { fileUrl, freshSession } from '../../../api/files.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { download } from '../../../app/download.ts'
import { Card } from '../../../ui/card.tsx'
import { own } from '../../../ui/own.ts'
import { Button } from '../../../ui/button.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount, formatSize } from '../../../ui/format.ts'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { fileTexts } from './file-texts.ts'
import issueStyles from './issue.module.css'
import styles from './attachments.module.css'
import typeStyles from '../../../ui/type.module.css'

type Attachment = IssueDetail['attachments'][number]

/** The attachments of the shown event. */
export function AttachmentsCard({ issue }: { issue: IssueDetail }) {
  const { attachments, refused_attachments: refused } = issue
  if (attachments.length === 0 && refused.length === 0) return null
  return (
    <Card
      title={fileTexts.attachments}
      titleId="h-attachments"
      header={<Minor>{formatCount(attachments.length + refused.length)}</Minor>}
    >
      <Files files={attachments} projectId={issue.project_id} />
      <RefusedFiles files={refused} />
    </Card>
  )
}

/** The files that the SDK sent and that were refused, with the reason. */
function RefusedFiles({ files }: { files: IssueDetail['refused_attachments'] }) {
  if (files.length === 0) return null
  return (
    <ul className={issueStyles.files} aria-label={fileTexts.refused}>
      {files.map(({ id, message }) => (
        <li key={id} className={styles.file}>
          <Icon name="info" className={typeStyles.quiet} />
          <Minor className={styles.refusal}>{message}</Minor>
        </li>
      ))}
    </ul>
  )
}

/** A list of files with type, size, preview and download. Nothing is loaded before a press. */
export function Files({ files, projectId }: { files: readonly Attachment[]; projectId: string }) {
  return (
    <ul className={issueStyles.files}>
      {files.map((file) => (
        <FileRow key={file.id} file={file} url={fileUrl(projectId, file.id)} />
      ))}
    </ul>
  )
}

function FileRow({ file, url }: { file: Attachment; url: string }) {
  const [shown, setShown] = useState<'no' | 'yes' | 'failed'>('no')
  const show = async () => {
    if (shown !== 'no') return setShown('no')
    await freshSession().catch(() => undefined)
    setShown('yes')
  }
  return (
    <li className={styles.file}>
      <Icon name={iconOf(file)} className={typeStyles.quiet} />
      <a
        className={classNames(styles.fileN, choiceStyles.underlines)}
        href={url}
        download={file.filename}
        onClick={(event) => void download(event, fileOf(file, url))}
      >
        {file.filename}
      </a>
      <Minor>{kindOf(file)}</Minor>
      <Minor className={typeStyles.figures}>{formatSize(file.size_bytes)}</Minor>
      <span className={styles.fileA}>
        {file.is_image ? (
          <Button
            look="ghost"
            size="sm"
            icon="eye"
            aria-expanded={shown !== 'no'}
            aria-label={shown === 'no' ? fileTexts.previewOf(file.filename) : fileTexts.hidePreview}
            onClick={() => void show()}
          >
            {shown === 'no' ? fileTexts.preview : fileTexts.hidePreview}
          </Button>
        ) : null}
        <Button
          look="ghost"
          size="sm"
          icon="download"
          aria-label={fileTexts.download(file.filename)}
          onClick={(event) => void download(event, fileOf(file, url))}
        >
          {fileTexts.downloadShort}
        </Button>
      </span>
      {shown === 'yes' ? (
        <div className={styles.fileP}>
          <img src={url} alt={file.filename} onError={() => setShown('failed')} />
        </div>
      ) : null}
      {shown === 'failed' ? (
        <Minor as="p" role="status" className={styles.fileP}>
          {fileTexts.noPreview}
        </Minor>
      ) : null}
    </li>
  )
}

const fileOf = ({ filename }: Attachment, url: string) => ({ url, filename, failed: fileTexts.downloadFailed })

function kindOf({ attachment_type: type, filename, is_image: isImage }: Attachment): string {
  const named = own(fileTexts.types, type)
  if (named !== undefined) return named
  if (!isImage) return fileTexts.file
  return /screenshot/iu.test(filename) ? fileTexts.screenshot : fileTexts.image
}

function iconOf({ attachment_type: type, is_image: isImage }: Attachment): IconName {
  if (type === 'event.minidump' || type === 'event.applecrashreport') return 'cpu'
  return isImage ? 'eye' : 'symbols'
}
