/**
 * A range of code of one function before it is encoded: which function and which inlined calls each address belongs to,
 * and its line. Texts are numbers of `IndexWriter.text`, 0 for none.
 */
export class FunctionDraft {
  start = 0
  end = 0
  /** Where the function begins. A function may have several ranges. */
  symbolAddress = 0
  /** The name of node 0, the function itself. Nodes 1 and up are inlined calls; a parent has a smaller number. */
  name = 0
  readonly parents: number[] = [0]
  readonly names: number[] = [0]
  readonly callFiles: number[] = [0]
  readonly callLines: number[] = [0]
  /** From each row's address to the next row. */
  readonly addresses: number[] = []
  readonly nodes: number[] = []
  readonly files: number[] = []
  readonly lines: number[] = []

  /** Begins another function. */
  begin(symbolAddress: number, name: number): void {
    this.symbolAddress = symbolAddress
    this.name = name
    this.parents.length = this.names.length = this.callFiles.length = this.callLines.length = 1
    this.beginRange(symbolAddress)
  }

  /** Begins another range of the same function. */
  beginRange(start: number): void {
    this.start = start
    this.addresses.length = this.nodes.length = this.files.length = this.lines.length = 0
  }

  row(address: number, node: number, file: number, line: number): void {
    const last = this.addresses.length - 1
    if (last >= 0 && this.nodes[last] === node && this.files[last] === file && this.lines[last] === line) return
    this.addresses.push(address)
    this.nodes.push(node)
    this.files.push(file)
    this.lines.push(line)
  }
}
