import { join } from 'node:path'
import { goProgram } from './go-program.ts'

export const FERRETDB = '1.24.2'

const WRITE_ERROR = 'github.com/FerretDB/FerretDB/internal/mongo'

/** Without these the compilation needs the MySQL and MongoDB drivers and gRPC, a third of its time, and never uses them. */
const FEWER_PACKAGES = [
  { file: 'internal/handler/registry/mysql.go', to: 'package registry\n' },
  { file: 'internal/util/observability/observability.go', to: 'package observability\n' },
  {
    file: 'internal/mongo/mongo.go',
    to: 'package mongo\n\ntype WriteError struct {\n\tIndex, Code int\n\tMessage string\n}\n',
  },
  ...['msg_delete.go', 'msg_insert.go'].map(file => ({
    file: `internal/handler/${file}`,
    from: 'go.mongodb.org/mongo-driver/mongo',
    to: WRITE_ERROR,
  })),
]

/**
 * Fixes of two defects. FerretDB reads all documents to find one by its id, since its index has another expression than
 * its query. It crashes on a request for several indexes of which some exist.
 */
const PATCHES = [
  {
    file: 'internal/backends/sqlite/metadata/metadata.go',
    from: `IDColumn = DefaultColumn + "->'$._id'"`,
    to: String.raw`IDColumn = DefaultColumn + "->\"_id\""`,
  },
  {
    file: 'internal/backends/sqlite/collection.go',
    from: 'if params.Filter.Len() == 1 {',
    to: 'if params.Filter.Len() > 0 {',
  },
  {
    file: 'internal/handler/msg_createindexes.go',
    from: 'slices.Delete(filteredToCreate, i, i+1)',
    to: 'slices.DeleteFunc(filteredToCreate, func(i backends.IndexInfo) bool { return i.Name == newIdx.Name })',
  },
]

/** Compiles the server of test/engines/ferretdb with Go, unless it is cached. @returns its path; undefined without Go */
export const ferretDb = (): Promise<string | undefined> =>
  goProgram({
    name: 'ferretdb',
    version: FERRETDB,
    sources: join(import.meta.dirname, '..', 'ferretdb'),
    module: 'github.com/FerretDB/FerretDB',
    patches: [...PATCHES, ...FEWER_PACKAGES],
    flags: ['-tags', 'ferretdb_no_postgresql'],
  })
