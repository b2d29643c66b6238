export { type S3BlobStore, s3BlobStore } from './blobs.ts'
export { contentOf, s3Bucket } from './bucket.ts'
export { s3Location } from './location.ts'
export { type S3Settings, s3Settings } from './settings.ts'
